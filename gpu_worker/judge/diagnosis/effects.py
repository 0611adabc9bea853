"""Prunes pairs of mistakes by the results that each mistake changes when made alone.

There are thousands of pairs, and trying one costs as much as a case. If neither mistake changes
a wrong result from the reference's bits, the pair cannot explain it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.reference import play_exactly
from gpu_worker.judge.diagnosis.agreement import FAR, VARIANT_ERRORS, JudgedCase
from gpu_worker.judge.diagnosis.hypotheses import fresh, keeps_state
from gpu_worker.judge.verdict.compare import measure

_PROBES = 8
_PER_QUANTITY = 3

Probe = tuple[JudgedCase, tuple[int, ...]]
"""A case, and the positions of those of its results that are far off."""


class Effects:
    """What each mistake changes of some wrong results of a submission."""

    def __init__(self, exercise: Exercise, items: Iterable[JudgedCase]) -> None:
        self._exercise = exercise
        self._probes = _probes(exercise, items)
        self._known: dict[int, tuple[bool, ...] | None] = {}

    def may_explain(self, pair: Sequence[KnownMistake]) -> bool:
        """True unless a result is wrong that none of the mistakes changes."""
        changed = [self._of(known) for known in pair]
        if any(one is None for one in changed):
            return True
        return all(any(ways) for ways in zip(*(one for one in changed if one), strict=True))

    def _of(self, known: KnownMistake) -> tuple[bool, ...] | None:
        """Return what a mistake changes, result by result; None where that cannot be told."""
        if id(known) not in self._known:
            self._known[id(known)] = self._look(known)
        return self._known[id(known)]

    def _look(self, known: KnownMistake) -> tuple[bool, ...] | None:
        variant = known.variant
        by_its_numbers = not (known.native or known.exact_as or known.wide_results)
        if variant is None or not by_its_numbers or keeps_state(variant):
            return None
        changed: list[bool] = []
        for item, places in self._probes:
            try:
                results = play_exactly(self._exercise, fresh(variant), item.case)
            except VARIANT_ERRORS:
                return None
            changed += [
                not np.array_equal(results[place].value, item.expected[place].value, equal_nan=True)
                for place in places
            ]
        return tuple(changed)


def _probes(exercise: Exercise, items: Iterable[JudgedCase]) -> list[Probe]:
    """Return small cases with wrong results, some for each quantity."""
    failed = [item for item in items if not item.verdict.passed and not item.played.problem]
    failed = [item for item in failed if item.played.complete and item.case.repeats == 1]
    failed.sort(key=lambda item: sum(array.values.size for array in item.case.script.arrays))
    found: list[Probe] = []
    counts: dict[str, int] = {}
    for item in failed:
        places = []
        for place, wanted in enumerate(item.expected[: len(item.played.results)]):
            if counts.get(wanted.quantity, 0) < _PER_QUANTITY and _is_far_off(
                exercise, item, place
            ):
                places.append(place)
                counts[wanted.quantity] = counts.get(wanted.quantity, 0) + 1
        if places:
            found.append((item, tuple(places)))
        if len(found) == _PROBES:
            break
    return found


def _is_far_off(exercise: Exercise, item: JudgedCase, place: int) -> bool:
    """True for what no rounding explains: a mistake must have changed it."""
    got, wanted = item.played.results[place], item.expected[place]
    if got.shape != wanted.value.shape or got.dtype != wanted.dtype:
        return False
    deviation = measure(item.case, got, wanted, exercise.gradients)
    return deviation is not None and deviation.units > FAR * deviation.limit
