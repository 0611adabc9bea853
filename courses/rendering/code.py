"""Listings as HTML, with a class for each token and an element for each line."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_NO_IDS: Mapping[int, str] = MappingProxyType({})
_NO_STEPS: Mapping[int, Sequence[tuple[str, int]]] = MappingProxyType({})


def render_code(
    code: str,
    language: str,
    line_ids: Mapping[int, str] = _NO_IDS,
    filename: str = "",
    steps: Mapping[int, Sequence[tuple[str, int]]] = _NO_STEPS,
) -> str:
    """A listing as HTML.

    `language` is a Pygments name; an unknown one is shown as plain text. `line_ids` maps 1-based
    line numbers to keys: such a line gets the id `line-<key>`. With a `filename` the other lines
    get ids too, `<filename>:<number>`, and the number of every line with an id is a link to it.
    `steps` maps line numbers to the steps of the derivation, as (key, number), that the line
    computes; the line ends with links to them. Every line is an element
    `<span class="line" data-line="n">`; the line ends stand between them, and the elements' text is
    the code and nothing else.
    """
    lines = _highlighted_lines(code, _lexer(language))
    body = "".join(
        _line(number, text, line_ids.get(number), filename, steps.get(number, ()))
        for number, text in enumerate(lines, start=1)
    )
    return (
        '<div class="highlight"><pre tabindex="0" translate="no">'
        f'<code data-language="{html.escape(language)}">{body}</code></pre></div>'
    )


def _lexer(language: str) -> Lexer:
    # Line numbers count from the file's first line, so nothing may be stripped from its start.
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=True)


def _highlighted_lines(code: str, lexer: Lexer) -> list[str]:
    """Split by lines: Pygments closes and reopens its elements at each line end."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    markup = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return markup.removesuffix("\n").split("\n")


def _line(
    number: int, text: str, key: str | None, filename: str, steps: Sequence[tuple[str, int]]
) -> str:
    place = f"line-{key}" if key else f"{filename}:{number}" if filename else ""
    if not place:
        return f'<span class="line" data-line="{number}">{text}</span>\n'
    anchor = html.escape(place)
    # A tab stop for each line would bar the way of those who use the keyboard: only lines that
    # other places point to are stops.
    stop = "" if key else ' tabindex="-1"'
    link = (
        f'<a class="line-link" href="#{anchor}" data-line="{number}"{stop} '
        f'aria-label="Link to line {number}"></a>'
        if filename
        else ""
    )
    return (
        f'<span class="line" id="{anchor}" data-line="{number}">{link}{text}'
        f"{''.join(map(_step_link, steps))}</span>\n"
    )


def _step_link(step: tuple[str, int]) -> str:
    """The style sheet draws the words, so that copying the line leaves them out."""
    key, number = step
    return (
        f'<a class="step-link" href="#step-{html.escape(key)}" data-step="{number}" '
        f'aria-label="Derivation, step {number}"></a>'
    )
