"""How a verdict's results compare with another's, in the words of the page and of the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from grader import queries
from grader.models import NodeKind, Track
from grader.parity import Agreement, Difference, Parity, compare

from .result_view import ResultView


@dataclass(frozen=True, slots=True)
class CaseRows:
    """What the comparison says of one public case."""

    title: str
    rows: list[Difference]


@dataclass(frozen=True, slots=True)
class ParityView:
    """One comparison: `left` is this submission's verdict, `right` that of `other_id`.

    `basis` says what is compared: "kinds" of nodes of one submission, or "tracks" of two.
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
        """Where the other submission is shown; empty where it is the same one."""
        return reverse("grader:submission", args=[self.other_id]) if self.other_id else ""

    @property
    def summary(self) -> str:
        """What the comparison of the public cases says, in a sentence or two."""
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
        """Yield a sentence for each way in which results cannot be compared."""
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
    """Return the comparisons that can be made for a submission, at most two."""
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
