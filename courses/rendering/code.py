"""Listings with classes for their tokens and an element for each line."""

from __future__ import annotations

import html
from collections.abc import Mapping
from types import MappingProxyType

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_NO_IDS: Mapping[int, str] = MappingProxyType({})


def render_code(code: str, language: str, line_ids: Mapping[int, str] = _NO_IDS) -> str:
    """A listing as HTML.

    `language` is a Pygments name; an unknown one is shown as plain text. `line_ids` maps 1-based
    line numbers to keys: such a line gets the id `line-<key>`. Every line is an element
    `<span class="line" data-line="n">`; the line ends stand between them.
    """
    lines = _highlighted_lines(code, _lexer(language))
    body = "".join(_line(number, text, line_ids) for number, text in enumerate(lines, start=1))
    return (
        '<div class="highlight"><pre tabindex="0">'
        f'<code data-language="{html.escape(language)}">{body}</code></pre></div>'
    )


def _lexer(language: str) -> Lexer:
    # Line numbers count from the file's first line, so nothing may be stripped from its start.
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return get_lexer_by_name("text", stripnl=False, ensurenl=True)


def _highlighted_lines(code: str, lexer: Lexer) -> list[str]:
    """Pygments closes and reopens its elements at each line end, so lines can be taken apart."""
    code = code.replace("\r\n", "\n").replace("\r", "\n")
    markup = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return markup.removesuffix("\n").split("\n")


def _line(number: int, text: str, line_ids: Mapping[int, str]) -> str:
    key = line_ids.get(number)
    anchor = f' id="line-{html.escape(key)}"' if key else ""
    return f'<span class="line"{anchor} data-line="{number}">{text}</span>\n'
