"""Computes once what many gradings with the same seed have in common.

The cases of a seed, and what the reference and each variant of it give on them, are the same for
every submission. For tests that grade many of them: whatever is shared is read-only, so that a
judge that changed it would be noticed, and what keeps state from case to case is played anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from gpu_worker.exercises import Exercise
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.reference import Expected, reference_class
from gpu_worker.judge.diagnosis import agreement
from gpu_worker.judge.diagnosis.hypotheses import Hypothesis
from gpu_worker.judge.running import execution
from gpu_worker.judge.strength import rehearsal

MAX_KEPT_BYTES = 256_000_000
"""Of what variants give; the longest unused goes first."""


@contextmanager
def worked_out_once() -> Iterator[None]:
    """Within it, gradings share the cases of a seed and what trusted classes give on them."""
    drawn = _Drawn()
    with pytest.MonkeyPatch.context() as patch:
        for draw in (casegen.public_cases, casegen.hidden_cases):
            patch.setattr(casegen, draw.__name__, drawn.by(draw))
        expected = _Expected(drawn)
        patch.setattr(execution, "expected_results", expected)
        patch.setattr(rehearsal, "expected_results", expected)
        patch.setattr(agreement, "play_exactly", _Played(drawn))
        yield


class _Drawn:
    """The cases of each exercise and seed; they are kept, so that each is known by its place."""

    def __init__(self) -> None:
        self._cases: dict[Hashable, list[Case]] = {}
        self._known: set[int] = set()

    def __contains__(self, case: Case) -> bool:
        return id(case) in self._known

    def by(self, draw: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
        def once(exercise: Exercise, *options: Hashable) -> list[Case]:
            key = (draw, exercise.folder, *options)
            if key not in self._cases:
                self._cases[key] = draw(exercise, *options)
                self._known |= {id(case) for case in self._cases[key]}
                for case in self._cases[key]:
                    for array in case.script.arrays:
                        array.values.flags.writeable = False
            return list(self._cases[key])

        return once


class _Expected:
    """What the reference gives on each case."""

    def __init__(self, drawn: _Drawn) -> None:
        self._drawn = drawn
        self._work_out = execution.expected_results
        self._kept: dict[int, list[Expected]] = {}

    def __call__(self, exercise: Exercise, case: Case) -> list[Expected]:
        if case not in self._drawn:
            return self._work_out(exercise, case)
        if id(case) not in self._kept:
            self._kept[id(case)] = _read_only(self._work_out(exercise, case))
        return list(self._kept[id(case)])


class _Played:
    """What each variant gives on each case, or raises."""

    def __init__(self, drawn: _Drawn) -> None:
        self._drawn = drawn
        self._play = agreement.play_exactly
        self._kept: OrderedDict[Hashable, list[Expected] | Exception] = OrderedDict()
        self._bytes = 0
        self._shareable: dict[type, bool] = {}

    def __call__(
        self, exercise: Exercise, cls: type, case: Case, *, native: bool
    ) -> list[Expected]:
        parts = self._parts(exercise, cls)
        if not parts or case not in self._drawn:
            return self._play(exercise, cls, case, native=native)
        key = (parts, id(case), native)
        if key in self._kept:
            self._kept.move_to_end(key)
        else:
            self._keep(key, exercise, cls, case, native)
        found = self._kept[key]
        if isinstance(found, Exception):
            raise found.with_traceback(None)
        return list(found)

    def _keep(self, key: Hashable, exercise: Exercise, cls: type, case: Case, native: bool) -> None:
        try:
            found = _read_only(self._play(exercise, cls, case, native=native))
        except Exception as error:  # noqa: BLE001  whatever it raises, it raises again
            self._kept[key] = error
            return
        self._kept[key] = found
        self._bytes += _bytes_of(found)
        while self._bytes > MAX_KEPT_BYTES and len(self._kept) > 1:
            self._bytes -= _bytes_of(self._kept.popitem(last=False)[1])

    def _parts(self, exercise: Exercise, cls: type) -> tuple[type, ...]:
        """Return the variants that a hypothesis is made of; none if it is to be played anew."""
        # `fresh` and `compose` only combine classes, with a `shared` that nothing here reads.
        parts: tuple[type, ...] = cls.__bases__
        if len(parts) == 1 and vars(parts[0]).keys() <= vars(cls).keys():
            parts = parts[0].__bases__
        for part in parts:
            if part not in self._shareable:
                if not _is_of_bank(exercise, part):
                    return ()
                self._shareable[part] = not Hypothesis((), part).keeps_state
        return parts if all(self._shareable[part] for part in parts) else ()


def _is_of_bank(exercise: Exercise, part: type) -> bool:
    """True for the reference and its variants, false for classes made up on the way."""
    bank = exercise.module("mistakes").MISTAKES
    return part is reference_class(exercise) or any(part is known.variant for known in bank)


def _read_only(results: list[Expected]) -> list[Expected]:
    for result in results:
        result.value.flags.writeable = False
        if result.scale is not None:
            result.scale.flags.writeable = False
    return results


def _bytes_of(found: Sequence[Expected] | Exception) -> int:
    if isinstance(found, Exception):
        return 0
    scales = (result.scale.nbytes for result in found if result.scale is not None)
    return sum(result.value.nbytes for result in found) + sum(scales)
