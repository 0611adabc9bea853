"""The excerpt of a document that shows why it matched, with the query's words marked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .documents import Document, Segment, SegmentKind
from .words import Word, words

MAX_CHARACTERS = 180
# Context before the first mark.
LEAD_CHARACTERS = 50
# Among segments with equally many of the words: a symbol's meaning says most, and the title is
# shown above the excerpt anyway.
_TELLING = {
    SegmentKind.SYMBOL: 2,
    SegmentKind.PROSE: 1,
    SegmentKind.TEX: 0,
    SegmentKind.CODE: 0,
    SegmentKind.TITLE: -1,
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, `marked` where it is a word of the query."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """`pieces` in one line; `is_code` for TeX and code; `anchor` of the line of code it is from."""

    pieces: tuple[Piece, ...]
    is_code: bool
    anchor: str


def marked(text: str, matched: Iterable[str]) -> tuple[Piece, ...]:
    """Split a text at the matching words."""
    pieces: list[Piece] = []
    place = 0
    for start, end in _spans(text, frozenset(matched)):
        if start > place:
            pieces.append(Piece(text[place:start], False))
        pieces.append(Piece(text[start:end], True))
        place = end
    if place < len(text):
        pieces.append(Piece(text[place:], False))
    return tuple(pieces)


def excerpt(document: Document, matched: frozenset[str]) -> Excerpt:
    """Return the segment with the most matching words, cut around their densest stretch."""
    best = max(document.segments, key=lambda segment: _worth(segment, matched))
    if best.kind is SegmentKind.TITLE and len(document.segments) > 1:
        # The title is shown above the excerpt anyway: show the beginning of the text.
        best = document.segments[1]
    text = _window(best.text, matched)
    return Excerpt(
        marked(text, matched), best.kind in (SegmentKind.TEX, SegmentKind.CODE), best.anchor
    )


def _worth(segment: Segment, matched: frozenset[str]) -> tuple[int, int]:
    found = {word.word for word in words(segment.text)} & matched
    return (len(found), _TELLING[segment.kind])


def _spans(text: str, matched: frozenset[str]) -> list[tuple[int, int]]:
    """Return the positions of the words, each once; neighbours stay separate."""
    return sorted({(w.start, w.end) for w in words(text) if w.word in matched})


def _densest(text: str, matched: frozenset[str]) -> int:
    """Return the start of the stretch with the most words, the first of equal ones."""
    found = [word for word in words(text) if word.word in matched]
    reach = MAX_CHARACTERS - LEAD_CHARACTERS

    def count(first: Word) -> int:
        return len(
            {w.word for w in found if first.start <= w.start and w.end <= first.start + reach}
        )

    return max(found, key=count).start if found else 0


def _window(text: str, matched: frozenset[str]) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    start = max(0, _densest(text, matched) - LEAD_CHARACTERS)
    if start > 0:
        start = text.find(" ", start) + 1
    end = start + MAX_CHARACTERS
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + MAX_CHARACTERS // 2)
    return ("… " if start > 0 else "") + text[start:end] + (" …" if end < len(text) else "")
