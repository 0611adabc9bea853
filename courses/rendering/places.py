"""From an offset in a text to the line, column and excerpt for its author."""

from __future__ import annotations

from courses.rendering.model import SourceError

EXCERPT_CHARACTERS = 72


def with_line_feeds(text: str) -> str:
    """Normalise line ends to LF, in which lines and columns are counted: forms send CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def source_error(text: str, offset: int, message: str) -> SourceError:
    """Return the error `message` at the character `offset` (0-based) of `text`."""
    offset = min(max(offset, 0), len(text))
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    line = text[line_start : len(text) if line_end < 0 else line_end]
    return SourceError(
        line=text.count("\n", 0, offset) + 1,
        column=offset - line_start + 1,
        message=message,
        excerpt=_excerpt(line, offset - line_start),
    )


def _excerpt(line: str, index: int) -> str:
    """Return the line with a caret under `index`; of a long line, the part around it."""
    before, after = "", ""
    start = 0
    if len(line) > EXCERPT_CHARACTERS:
        start = max(0, min(index - EXCERPT_CHARACTERS // 2, len(line) - EXCERPT_CHARACTERS))
        before = "…" if start > 0 else ""
        after = "…" if start + EXCERPT_CHARACTERS < len(line) else ""
    # A tab is one character of the column but many on the screen: the caret must stay under it.
    shown = line[start : start + EXCERPT_CHARACTERS].replace("\t", " ")
    caret = " " * (len(before) + index - start) + "^"
    return f"{before}{shown}{after}\n{caret}"
