"""Marks characters in a source that nobody would see: bidirectional controls, joiners, look-alikes.

Each is wrapped in an element of its own, which isolates its direction; the style sheet shows its
code point. The text remains the source and can be copied as it is.
"""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from gpu_worker.pasted import is_hidden, named

_SUSPECT = re.compile(r"[^\t\n\r -~]")


def with_hidden_marked(text: object) -> SafeString:
    """Return a text with its hidden characters marked, escaped unless it is markup already.

    In markup, such characters may only occur in texts, not within tags.
    """
    markup = text if isinstance(text, SafeString) else escape(text)
    return mark_safe(_SUSPECT.sub(_mark, str(markup)))  # noqa: S308  escaped above


def _mark(match: re.Match[str]) -> str:
    character = match[0]
    before = match.string[match.start() - 1] if match.start() else ""
    if not is_hidden(character, before):
        return character
    return (
        f'<bdi class="hidden-character" data-code="U+{ord(character):04X}" '
        f'title="{escape(named(character))}">{character}</bdi>'
    )
