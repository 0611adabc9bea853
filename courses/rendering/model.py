"""The renderer's input and output types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RENDERER_VERSION = 7
"""Increment when the same source gives different HTML: stored pages are then rendered again."""

SourceKind = Literal["markdown", "inline_markdown", "tex_display", "tex_inline"]


class RenderError(RuntimeError):
    """The renderer itself failed (engine missing or killed): not a mistake of the author.

    The message is a full sentence that may be shown to staff.
    """


@dataclass(frozen=True, slots=True)
class Source:
    """One text field as its author wrote it."""

    kind: SourceKind
    text: str


@dataclass(frozen=True, slots=True)
class SourceError:
    """One mistake of the author, at a place in the source text.

    `line` and `column` are 1-based and count characters (not bytes) of the text with its line ends
    normalised to a line feed. `excerpt` is two lines: the line (or the part of it around the
    mistake) and a caret under the place.
    """

    line: int
    column: int
    message: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Link:
    """An address in a text, at `offset` (characters, from 0) of its source."""

    address: str
    offset: int
    is_picture: bool


@dataclass(frozen=True, slots=True)
class Rendered:
    """The HTML of every source and the one stylesheet that all of them need.

    `html` has an entry for every source, also for one with errors: the part at fault is then shown
    as its source text in an element of class `math-error`. `errors` has entries only for sources
    with mistakes. `css_hash` (16 hexadecimal digits) names the stylesheet. `links` has the
    addresses in each Markdown text that are allowed in themselves; whether they lead anywhere is
    not known here.
    """

    html: dict[str, str]
    css: str
    css_hash: str
    errors: dict[str, list[SourceError]]
    links: dict[str, list[Link]]


def too_long(characters: int, most: int) -> str:
    """Return the message for an author's text that is too long."""
    return (
        f"This text has {characters:,} characters; it may have {most:,}. Shorten it, or move a "
        "part of it to another place."
    )
