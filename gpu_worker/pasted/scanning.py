"""Splits a source into code, strings and comments, whatever else is wrong with it."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

# Strings are read as in Python: a backslash escapes the next character, and a single-quoted string
# ends with its line. Text between curly quotes was meant as a string.
_PIECE: Final = re.compile(
    r"""
    (?P<comment>\#[^\n\r]*)
  | (?P<text>
        \"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\\?\Z) | '''(?:\\.|[^\\])*?(?:'''|\\?\Z)
      | \"(?:\\.|[^\"\\\n\r])*+(?:\"|(?=[\n\r])|\\?\Z) | '(?:\\.|[^'\\\n\r])*+(?:'|(?=[\n\r])|\\?\Z)
    )
  | (?P<curly>[\u201c\u201d\u201e\u201f][^\n\r\u201c\u201d]*[\u201c\u201d]
      | [\u2018\u201b][^\n\r\u2018\u2019]*\u2019)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a source, from `start` up to `end`."""

    kind: Literal["code", "text", "comment"]
    start: int
    end: int


def pieces(source: str) -> Iterator[Piece]:
    """Yield the source's pieces in order. Curly quotes are code, what is between them is text."""
    place = 0
    while match := _PIECE.search(source, place):
        start, end = match.span()
        if start > place:
            yield Piece("code", place, start)
        if match["curly"]:
            yield Piece("code", start, start + 1)
            yield Piece("text", start + 1, end - 1)
            yield Piece("code", end - 1, end)
        else:
            yield Piece("comment" if match["comment"] else "text", start, end)
        # An unterminated string at the end of a line may be empty.
        place = max(end, start + 1)
    if place < len(source):
        yield Piece("code", place, len(source))


class Lines:
    """The lines of a source, as Python counts them."""

    def __init__(self, source: str) -> None:
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(source))]
        self.texts = _LINE_END.split(source)

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column, from 1, of a place in the source."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def code_lines(source: str, lines: Lines) -> list[bool]:
    """Tell of each line whether it begins in code: not within a text of several lines."""
    within = [
        (piece.start, piece.end)
        for piece in pieces(source)
        if piece.kind == "text" and _LINE_END.search(source, piece.start, piece.end)
    ]
    starts = [start for start, _ in within]

    def is_code(offset: int) -> bool:
        found = bisect.bisect_left(starts, offset) - 1
        return found < 0 or within[found][1] <= offset

    return [is_code(offset) for offset in lines.starts]
