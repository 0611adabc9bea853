"""Two sources side by side as one list of lines, as `diff -u` gives it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Final, Literal

CONTEXT_LINES: Final = 3
LINES_COMPARED_AT_MOST: Final = 5_000
"""Longer sources are compared as one block: the exact way takes the square of their length."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number in the old and in the new source, 0 where it is not there."""

    kind: Literal["same", "gone", "new"]
    old: int
    new: int
    text: str

    @property
    def sign(self) -> str:
        return {"same": " ", "gone": "−", "new": "+"}[self.kind]

    @property
    def word(self) -> str:
        return {"same": "", "gone": "removed: ", "new": "added: "}[self.kind]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with some unchanged ones around them."""

    lines: list[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        first = self.lines[0]
        return f"Line {first.new or first.old} and what follows"


@dataclass(frozen=True, slots=True)
class Diff:
    hunks: list[Hunk]
    added: int
    removed: int


def unified(old: str, new: str) -> Diff:
    """Return what changed from `old` to `new`, with three lines of context."""
    before, after = old.splitlines(), new.splitlines()
    long = max(len(before), len(after)) > LINES_COMPARED_AT_MOST
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=long)
    hunks = [
        Hunk([line for part in group for line in _lines(part, before, after)])
        for group in matcher.get_grouped_opcodes(CONTEXT_LINES)
    ]
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return Diff(hunks, added=kinds.count("new"), removed=kinds.count("gone"))


def _lines(part: tuple[str, int, int, int, int], before: list[str], after: list[str]) -> list[Line]:
    tag, old, old_end, new, new_end = part
    if tag == "equal":
        return [
            Line("same", old + k + 1, new + k + 1, before[old + k]) for k in range(old_end - old)
        ]
    gone = [Line("gone", place + 1, 0, before[place]) for place in range(old, old_end)]
    come = [Line("new", 0, place + 1, after[place]) for place in range(new, new_end)]
    return gone + come
