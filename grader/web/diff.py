"""A line-by-line comparison of two sources, like `diff -u`, with bounded work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Final, Literal

CONTEXT_LINES: Final = 3
STEPS_AT_MOST: Final = 100_000
"""Comparisons of two lines: some 50 ms."""
LINES_SHOWN_AT_MOST: Final = 2_000
"""Longer lists of changes help nobody, and are slow to render."""


class TooMuchWork(Exception):
    """The two sources have too many differences to be compared line by line."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its numbers in the old and the new source, 0 where it is missing."""

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
    """Changed lines with some context."""

    lines: list[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        first = self.lines[0]
        return f"Line {first.new or first.old} and what follows"


@dataclass(frozen=True, slots=True)
class Diff:
    """The changes. Where they are too many to find or to show, `is_complete` is False: no hunks."""

    hunks: list[Hunk]
    added: int
    removed: int
    is_complete: bool = True


def unified(old: str, new: str) -> Diff:
    """Return the changes from `old` to `new`, with three lines of context.

    The work is bounded: sources with too many differences are not compared at all, since half a
    comparison would mislead.
    """
    before, after = old.splitlines(), new.splitlines()
    try:
        pairs = matching_lines(before, after)
    except TooMuchWork:
        return Diff([], added=0, removed=0, is_complete=False)
    added, removed = len(after) - len(pairs), len(before) - len(pairs)
    if added + removed > LINES_SHOWN_AT_MOST:
        return Diff([], added, removed, is_complete=False)
    return Diff(_hunks(before, after, pairs), added, removed)


def matching_lines(
    before: list[str], after: list[str], steps_at_most: int = STEPS_AT_MOST
) -> list[tuple[int, int]]:
    """Return a largest set of pairs of equal lines, by their positions from 0, in rising order.

    Lines that only one side has are removed first, since they match nothing. The others are
    compared as in E. Myers, "An O(ND) difference algorithm and its variations" (1986), section 4b:
    in space linear in the number of lines, and in time proportional to that number times the number
    of differences.

    Raises:
        TooMuchWork: that would take more than `steps_at_most` comparisons.
    """
    numbers: dict[str, int] = {}
    ids = count()
    a = [numbers.setdefault(text, next(ids)) for text in before]
    b = [numbers.setdefault(text, next(ids)) for text in after]
    in_both = set(a) & set(b)
    a_places = [place for place, number in enumerate(a) if number in in_both]
    b_places = [place for place, number in enumerate(b) if number in in_both]
    matcher = _Matcher([a[i] for i in a_places], [b[j] for j in b_places], steps_at_most)
    return [(a_places[i], b_places[j]) for i, j in sorted(matcher.pairs())]


@dataclass(frozen=True, slots=True)
class _Box:
    """A part of each side: a[left:right] against b[top:bottom]."""

    left: int
    right: int
    top: int
    bottom: int


class _Matcher:
    def __init__(self, a: list[int], b: list[int], steps_at_most: int) -> None:
        self._a, self._b = a, b
        self._steps_left = steps_at_most
        # Furthest positions reached on each diagonal, from either end; negative ones wrap around.
        size = len(a) + len(b) + 5
        self._forward, self._backward = [0] * size, [0] * size

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield all pairs, in no order."""
        boxes = [_Box(0, len(self._a), 0, len(self._b))]
        while boxes:
            box = boxes.pop()
            left, right, top, bottom = box.left, box.right, box.top, box.bottom
            while left < right and top < bottom and self._a[left] == self._b[top]:
                yield left, top
                left, top = left + 1, top + 1
            while left < right and top < bottom and self._a[right - 1] == self._b[bottom - 1]:
                right, bottom = right - 1, bottom - 1
                yield right, bottom
            if left < right and top < bottom:
                x, y = self._middle(_Box(left, right, top, bottom))
                boxes += [_Box(left, x, top, y), _Box(x, right, y, bottom)]

    def _middle(self, box: _Box) -> tuple[int, int]:
        """Return a point on a shortest path through the box that is neither of its ends.

        Paths from both ends grow by one difference at a time until two of them meet.
        """
        width, height = box.right - box.left, box.bottom - box.top
        delta = width - height
        forward, backward = self._forward, self._backward
        forward[1] = backward[1] = 0
        for differences in range((width + height + 1) // 2 + 1):
            self._pay(2 * differences + 2)
            for k in range(-differences, differences + 1, 2):
                x = _next(forward, k, differences)
                x = forward[k] = self._along(box, x, x - k)
                other = delta - k
                if delta % 2 and abs(other) < differences and x + backward[other] >= width:
                    return box.left + x, box.top + x - k
            for k in range(-differences, differences + 1, 2):
                x = _next(backward, k, differences)
                x = backward[k] = self._back_along(box, x, x - k)
                other = delta - k
                if not delta % 2 and abs(other) <= differences and x + forward[other] >= width:
                    return box.right - x, box.bottom - x + k
        raise AssertionError("Ways from both ends of a box always meet.")

    def _along(self, box: _Box, x: int, y: int) -> int:
        """Follow equal lines from x, y, relative to the box's start; return the x at their end."""
        a, b, begin = self._a, self._b, x
        width, height = box.right - box.left, box.bottom - box.top
        while x < width and y < height and a[box.left + x] == b[box.top + y]:
            x, y = x + 1, y + 1
        self._pay(x - begin)
        return x

    def _back_along(self, box: _Box, x: int, y: int) -> int:
        """The same from the box's end, with x and y relative to it."""
        a, b, begin = self._a, self._b, x
        width, height = box.right - box.left, box.bottom - box.top
        while x < width and y < height and a[box.right - x - 1] == b[box.bottom - y - 1]:
            x, y = x + 1, y + 1
        self._pay(x - begin)
        return x

    def _pay(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise TooMuchWork


def _next(reached: list[int], k: int, differences: int) -> int:
    """Return how far one more difference reaches on diagonal k, from its better neighbour."""
    if k == -differences or (k != differences and reached[k - 1] < reached[k + 1]):
        return reached[k + 1]
    return reached[k - 1] + 1


def _hunks(before: list[str], after: list[str], pairs: list[tuple[int, int]]) -> list[Hunk]:
    """Group the changes between matching lines into hunks."""
    around = pairwise([(-1, -1), *pairs, (len(before), len(after))])
    changes = [
        (range(i + 1, next_i), range(j + 1, next_j))
        for (i, j), (next_i, next_j) in around
        if (next_i, next_j) != (i + 1, j + 1)
    ]
    hunks: list[Hunk] = []
    shown = 0  # Up to which line of `before`.
    for number, (gone, new) in enumerate(changes, 1):
        next_begin = changes[number][0].start if number < len(changes) else len(before)
        begin = max(shown, gone.start - CONTEXT_LINES)
        if not hunks or begin > shown:
            hunks.append(Hunk())
        shown = min(gone.stop + CONTEXT_LINES, next_begin)
        hunks[-1].lines.extend(
            [
                *_same(before, range(begin, gone.start), new.start - gone.start),
                *(Line("gone", place + 1, 0, before[place]) for place in gone),
                *(Line("new", 0, place + 1, after[place]) for place in new),
                *_same(before, range(gone.stop, shown), new.stop - gone.stop),
            ]
        )
    return hunks


def _same(before: list[str], places: range, shift: int) -> Iterator[Line]:
    return (Line("same", place + 1, place + shift + 1, before[place]) for place in places)
