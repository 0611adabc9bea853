"""Maps characters of parsed Markdown to offsets of its source.

The parser strips the markers before a line's content from paragraphs, headings and table cells:
list and quote markers, indentation, the bars of a table. Mistakes are reported at positions of the
source, so the way back is recorded here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

# Markers before the content of a line: quote marks, bullets, numbers, indentation.
_BEFORE_CONTENT = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*")
_HEADING_MARK = re.compile(r"#{1,6}[ \t]+")


class SourceMap:
    """Maps characters of some content to offsets of the source, piece by piece.

    `pieces` holds pairs (index in the content, offset in the source), ascending in the first;
    within a piece, both advance together.
    """

    def __init__(self, pieces: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in pieces]
        self._offsets = [offset for _, offset in pieces]

    def offset(self, index: int) -> int:
        """Return the offset in the source of the character at `index` of the content."""
        if not self._starts:
            return 0
        piece = max(0, bisect_right(self._starts, index) - 1)
        return self._offsets[piece] + max(0, index - self._starts[piece])


class SourceLines:
    """The lines of a source, counted from 0, with their offsets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines[:-1]:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def start(self, line: int) -> int:
        """Return the offset of a line's content, behind quote markers and bullets."""
        if line >= len(self.lines):
            return len(self.text)
        before = _BEFORE_CONTENT.match(self.lines[line])
        return self.starts[line] + (before.end() if before else 0)

    def paragraph(self, content: str, first_line: int) -> SourceMap:
        """Return the map of a paragraph or heading whose content begins in `first_line`."""
        pieces: list[tuple[int, int]] = []
        index = 0
        for number, line in enumerate(content.split("\n"), start=first_line):
            if number < len(self.lines):
                pieces.append((index, self._begin(number, line)))
            index += len(line) + 1
        return SourceMap(pieces)

    def cell(self, content: str, line: int, behind: int) -> tuple[SourceMap, int]:
        r"""The map of a table's cell that stands in `line` behind the offset `behind`.

        Also returns the offset at which the cell ends. A bar in a cell is written `\|`.
        """
        escaped = content.replace("|", r"\|")
        start = self.text.find(escaped, behind)
        if not content or start < 0:
            return SourceMap([(0, max(behind, self.start(line)))]), behind
        pieces = [(0, start)]
        for bars, bar in enumerate(re.finditer(r"\|", content), start=1):
            pieces.append((bar.start(), start + bar.start() + bars))
        return SourceMap(pieces), start + len(escaped)

    def _begin(self, number: int, content: str) -> int:
        """Return the offset of the first character of a line's content."""
        line, core = self.lines[number].rstrip(" \t"), content.strip(" \t")
        lead = len(content) - len(content.lstrip(" \t"))
        if line.endswith(core):
            place = len(line) - len(core)
        else:
            mark = _HEADING_MARK.search(line)
            place = max(0, line.find(core, mark.end() if mark else 0))
        return self.starts[number] + max(0, place - lead)
