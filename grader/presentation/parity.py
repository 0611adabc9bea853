"""How far two gradings of one exercise agree: of two tracks, or of a processor and a GPU.

Compared are the results of the public cases, which are the same for everybody, element by element,
and the number of passed cases of each group. A difference is measured in the units of an error:
|left - right| over the size of one unit at that element. Hidden cases are drawn anew for each
grading, so only their numbers can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.urls import reverse

from grader import queries
from grader.models import NodeKind, Track

from .result_view import ResultView

Report = Mapping[str, Any]
Results = dict[tuple[str, str], Mapping[str, Any]]


class Agreement(StrEnum):
    """The result of comparing two results."""

    SAME = "same"
    WITHIN = "within"
    DIFFERENT = "different"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of a public case on both sides.

    At the largest difference: `index`, the values `left` and `right`, None where not finite, and
    the difference in `units`, None where one of them is not finite. All three are None, and `index`
    is empty, where one side has no such result: `missing_on` is then "left" or "right", and empty
    where both have one, of different shapes.
    """

    case: str
    quantity: str
    agreement: Agreement
    units: float | None = None
    limit: float | None = None
    index: tuple[int, ...] = ()
    left: float | None = None
    right: float | None = None
    missing_on: str = ""


@dataclass(frozen=True, slots=True)
class GroupPair:
    """One group of cases: how many passed on either side, out of how many."""

    id: str
    title: str
    left_passed: int
    left_cases: int
    right_passed: int
    right_cases: int


@dataclass(frozen=True, slots=True)
class Parity:
    results: list[Difference]
    groups: list[GroupPair]

    @property
    def worst(self) -> Difference | None:
        """The largest difference relative to its limit; a non-finite one is larger than any."""
        measured = [each for each in self.results if each.agreement is not Agreement.MISSING]
        return max(measured, key=_size, default=None)

    @property
    def agrees(self) -> bool:
        """Whether every result is on both sides and within the other's tolerance."""
        good = (Agreement.SAME, Agreement.WITHIN)
        return bool(self.results) and all(each.agreement in good for each in self.results)


def compare(left: Report, right: Report) -> Parity | None:
    """Compare two reports of one exercise; None where one side has no result of a public case.

    It was graded before results were stored, or ended before the first.
    """
    ours, theirs = _results(left), _results(right)
    if not ours or not theirs:
        return None
    return Parity(list(_differences(ours, theirs)), list(_groups(left, right)))


def _differences(ours: Results, theirs: Results) -> Iterator[Difference]:
    for key in {**ours, **theirs}:
        if key not in ours or key not in theirs:
            side = "right" if key in ours else "left"
            yield Difference(*key, Agreement.MISSING, missing_on=side)
        elif ours[key]["shape"] != theirs[key]["shape"]:
            yield Difference(*key, Agreement.MISSING)
        else:
            yield _difference(key, ours[key], theirs[key])


def _difference(
    key: tuple[str, str], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> Difference:
    # The coarser of two dtypes limits the precision of both.
    units = [max(pair) for pair in zip(ours["units"], theirs["units"], strict=True)]
    limit = max(ours["limit"], theirs["limit"])
    pairs = list(zip(ours["values"], theirs["values"], strict=True))
    sizes = [_units(a, b, unit) for (a, b), unit in zip(pairs, units, strict=True)]
    place = max(range(len(sizes)), key=sizes.__getitem__, default=None)
    if place is None or sizes[place] == 0.0:
        return Difference(*key, Agreement.SAME, units=0.0, limit=limit)
    size = sizes[place]
    return Difference(
        *key,
        Agreement.WITHIN if size <= limit else Agreement.DIFFERENT,
        units=size if math.isfinite(size) else None,
        limit=limit,
        index=_index(place, ours["shape"]),
        left=pairs[place][0],
        right=pairs[place][1],
    )


def _units(left: float | None, right: float | None, unit: float) -> float:
    if left == right:
        return 0.0
    if left is None or right is None or not unit:
        return math.inf
    return abs(left - right) / unit


def _index(place: int, shape: list[int]) -> tuple[int, ...]:
    index: list[int] = []
    for extent in reversed(shape):
        place, rest = divmod(place, extent)
        index.insert(0, rest)
    return tuple(index)


def _results(report: Report) -> Results:
    """Return the results by case and quantity; the first one where there are duplicates."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for result in report.get("public") or []:
        if _is_whole(result):
            found.setdefault((result["case"], result["quantity"]), result)
    return found


def _is_whole(result: Mapping[str, Any]) -> bool:
    """Return whether each element has a value and a unit: reports come from workers."""
    return len(result["values"]) == len(result["units"]) == math.prod(result["shape"])


def _groups(left: Report, right: Report) -> Iterator[GroupPair]:
    theirs = {group["id"]: group for group in right.get("groups") or []}
    for ours in left.get("groups") or []:
        other = theirs.get(ours["id"])
        if other:
            yield GroupPair(
                ours["id"],
                ours["title"],
                ours["cases_passed"],
                ours["cases"],
                other["cases_passed"],
                other["cases"],
            )


def _size(difference: Difference) -> float:
    """Return the difference as a share of the tolerance."""
    if difference.units is None or not difference.limit:
        return math.inf
    return difference.units / difference.limit


# --- in the words of the page and of the API -----------------------------------------------------
@dataclass(frozen=True, slots=True)
class CaseRows:
    """The comparison of one public case."""

    title: str
    rows: list[Difference]


@dataclass(frozen=True, slots=True)
class ParityView:
    """One comparison: `left` is this submission's verdict, `right` that of `other_id`.

    `basis` says what is compared: "kinds" of nodes for one submission, or "tracks" of two.
    """

    basis: str
    title: str
    left: str
    right: str
    other_id: str
    parity: Parity
    titles: dict[str, str]

    @property
    def other_url(self) -> str:
        """The page of the other submission; empty where it is the same one."""
        return reverse("grader:submission", args=[self.other_id]) if self.other_id else ""

    @property
    def summary(self) -> str:
        """The comparison of the public cases, in a sentence or two."""
        results, worst = self.parity.results, self.parity.worst
        if worst is None:
            return " ".join(["No result of a public case can be compared.", *self._missing()])
        shared = [each for each in results if each.agreement is not Agreement.MISSING]
        if len(shared) < len(results):
            head = f"Of {len(results)} results of the public cases, {len(shared)} can be compared. "
            return " ".join([head + self._agreement(shared, "These"), *self._missing()])
        return self._agreement(shared, "The results of the public cases")

    def _agreement(self, shared: list[Difference], what: str) -> str:
        off = sum(each.agreement is Agreement.DIFFERENT for each in shared)
        if off:
            differ = "differ" if off > 1 else "differs"
            return (
                f"{what} do not all agree: {off} of {len(shared)} {differ} by more than a correct "
                "one may be off."
            )
        if all(each.agreement is Agreement.SAME for each in shared):
            return f"{what} are the same, number by number."
        return f"{what} agree: none differs by more than a correct one may be off."

    def _missing(self) -> Iterator[str]:
        """Yield a sentence for each reason why results cannot be compared."""
        missing = [each for each in self.parity.results if each.agreement is Agreement.MISSING]
        places = {
            "left": f"Missing, {self.left}",
            "right": f"Missing, {self.right}",
            "": "Of another shape",
        }
        for side, words in places.items():
            found = [each for each in missing if each.missing_on == side]
            if found:
                names = (f"{each.quantity} of “{self._title(each.case)}”" for each in found)
                yield f"{words}: {', '.join(names)}."

    @property
    def worst(self) -> Difference | None:
        """The largest difference, if there is one at all."""
        worst = self.parity.worst
        return None if worst is None or worst.agreement is Agreement.SAME else worst

    @property
    def worst_title(self) -> str:
        return self._title(self.worst.case) if self.worst else ""

    @property
    def cases(self) -> list[CaseRows]:
        """The results of each public case."""
        rows: dict[str, list[Difference]] = {}
        for row in self.parity.results:
            rows.setdefault(row.case, []).append(row)
        return [CaseRows(self._title(case), found) for case, found in rows.items()]

    def _title(self, case: str) -> str:
        return self.titles.get(case, case)


def parities(page: ResultView, second: ResultView | None) -> list[ParityView]:
    """Return the possible comparisons for a submission, at most two."""
    return [*_of_kinds(page, second), *_of_tracks(page)]


def _of_kinds(page: ResultView, second: ResultView | None) -> Iterator[ParityView]:
    if second is None or not page.is_final or not second.is_final:
        return
    left, right = sorted((page, second), key=lambda result: NodeKind.values.index(result.kind))
    parity = compare(left.report, right.report)
    if parity is not None:
        yield ParityView(
            "kinds",
            "Processor and GPU side by side",
            left.kind_title,
            right.kind_title,
            "",
            parity,
            page.titles,
        )


def _of_tracks(page: ResultView) -> Iterator[ParityView]:
    if not page.is_final or page.spec is None or len(page.spec.tracks) < 2:
        return
    other = queries.graded_on_another_track(page.submission)
    if other is None:
        return
    parity = compare(page.report, other.report if isinstance(other.report, dict) else {})
    if parity is None:
        return
    own, theirs = Track(page.submission.track).label, Track(other.track).label
    yield ParityView(
        "tracks",
        f"{own} and {theirs} side by side",
        own,
        theirs,
        other.public_id,
        parity,
        page.titles,
    )
