"""Comparisons of sources: correct, shortest, and bounded."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.web import diff
from grader.web.diff import Diff, Line, TooMuchWork, matching_lines, unified

# Few different lines, so that many of them match; one of them empty, and one twice as long.
LINES = st.lists(st.sampled_from(["a", "b", "", "cc"]), max_size=25)


def longest_common(before: list[str], after: list[str]) -> int:
    """The length of a longest common subsequence, by the textbook's table."""
    row = [0] * (len(after) + 1)
    for old in before:
        last, row = row, [0]
        for place, new in enumerate(after):
            row.append(last[place] + 1 if old == new else max(last[place + 1], row[-1]))
    return row[-1]


def replayed(before: list[str], shown: Diff) -> list[str]:
    """What becomes of `before` if the hunks are carried out on it."""
    result, place = [], 0
    for line in (line for hunk in shown.hunks for line in hunk.lines):
        if line.old:
            result += before[place : line.old - 1]
            place = line.old
        if line.new:
            result.append(line.text)
    return result + before[place:]


@given(LINES, LINES)
def test_pairs_are_equal_in_order_and_as_many_as_there_can_be(
    before: list[str], after: list[str]
) -> None:
    pairs = matching_lines(before, after)
    assert all(before[i] == after[j] for i, j in pairs)
    assert all(first < second for first, second in pairwise(i for i, _ in pairs))
    assert all(first < second for first, second in pairwise(j for _, j in pairs))
    assert len(pairs) == longest_common(before, after)


@given(LINES, LINES)
def test_applying_the_shown_changes_to_the_old_source_gives_the_new(
    before: list[str], after: list[str]
) -> None:
    shown = unified("\n".join([*before, "end"]), "\n".join([*after, "end"]))
    assert shown.is_complete
    assert replayed([*before, "end"], shown) == [*after, "end"]
    lines = [line for hunk in shown.hunks for line in hunk.lines]
    assert [line.kind for line in lines].count("new") == shown.added
    assert [line.kind for line in lines].count("gone") == shown.removed


def test_lines_keep_their_numbers_and_three_lines_of_context() -> None:
    old = [f"line {n}" for n in range(30)]
    new = old.copy()
    new[2:3], new[25:26] = ["changed", "more"], []
    shown = unified("\n".join(old), "\n".join(new))
    assert (len(shown.hunks), shown.added, shown.removed) == (2, 2, 2)
    first, second = (hunk.lines for hunk in shown.hunks)
    assert [line.kind for line in first] == ["same"] * 2 + ["gone", "new", "new"] + ["same"] * 3
    assert [line.kind for line in second] == ["same"] * 3 + ["gone"] + ["same"] * 3
    assert second[0] == Line("same", 22, 23, "line 21")
    for line in first + second:
        assert not line.old or old[line.old - 1] == line.text
        assert not line.new or new[line.new - 1] == line.text


def test_changes_with_up_to_six_lines_between_them_share_a_hunk() -> None:
    old = [str(n) for n in range(40)]
    for between, hunks in ((6, 1), (7, 2)):
        new = old.copy()
        new[10], new[11 + between] = "x", "y"
        assert len(unified("\n".join(old), "\n".join(new)).hunks) == hunks


def test_equal_sources_have_no_hunks() -> None:
    assert unified("same\n", "same\n") == Diff([], 0, 0)
    assert unified("", "") == Diff([], 0, 0)


NUMBERS = random.Random(20)
WORST = {
    "every second line alike, the others unique": (
        ["a" if n % 2 else f"x{n}" for n in range(5_000)],
        ["a" if n % 2 else f"y{n}" for n in range(5_000)],
    ),
    "two lines in two orders": (
        NUMBERS.choices("ab", k=32_000),
        NUMBERS.choices("ab", k=32_000),
    ),
    "backwards": (
        [str(n) for n in range(11_000)],
        [str(n) for n in reversed(range(11_000))],
    ),
    "blocks moved about": (
        [f"{n % 71} {n}" for n in range(8_000)],
        sorted(f"{n % 71} {n}" for n in range(8_000)),
    ),
}


@pytest.mark.parametrize("name", WORST)
def test_expensive_comparisons_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = WORST[name]
    steps = 0
    pay = diff._Matcher._pay

    def counting(matcher: diff._Matcher, number: int) -> None:
        nonlocal steps
        steps += number
        pay(matcher, number)

    monkeypatch.setattr(diff._Matcher, "_pay", counting)
    shown = unified("\n".join(before), "\n".join(after))
    assert not shown.is_complete
    assert shown.hunks == []
    # The last payment, which is refused, may be as long as the sources.
    assert steps <= diff.STEPS_AT_MOST + max(len(before), len(after))


def test_too_little_allowance_is_an_error() -> None:
    with pytest.raises(TooMuchWork):
        matching_lines(["a", "b", "a"], ["b", "a", "b"], steps_at_most=3)
    assert len(matching_lines(["a", "b", "a"], ["b", "a", "b"])) == 2
