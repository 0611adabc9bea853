"""Looks for the known mistakes that explain everything a submission got: one, or two together."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge import dtypes
from gpu_worker.judge.case import Case
from gpu_worker.judge.compare import CaseVerdict, Sign, result_dtype, signs_of
from gpu_worker.judge.reference import Array, Expected, play_exactly, reference_class
from gpu_worker.judge.transcript import PlayedCase, Raised, Refused
from gpu_worker.judge.units import error_in_units, limit_in_units
from gpu_worker.protocol import Mistake

_NATIVE_SLACK = 8.0
"""Variants in low precision round in another order than the submission does."""
_DRIFT_SLACK = 4.0
_MAX_MISTAKES = 8
_PAIRS_SECONDS = 1.0
"""Processor time for trying pairs of mistakes; what is not found by then stays unnamed."""
_VARIANT_ERRORS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case with what the submission gave and how it was judged."""

    case: Case
    played: PlayedCase
    expected: Sequence[Expected]
    verdict: CaseVerdict


@dataclass(frozen=True, slots=True)
class _Hypothesis:
    """What a submission may be: the reference with some mistakes made."""

    mistakes: tuple[KnownMistake, ...]
    variant: type
    native: bool = False
    wide_results: bool = False

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(known.id for known in self.mistakes)


def diagnose(exercise: Exercise, runs: Sequence[Sequence[JudgedCase]]) -> list[Mistake]:
    """Return the known mistakes that explain all results of all runs; none is an answer too.

    `runs` holds the judged cases of each process that played some, in order. A mistake explains
    them if its variant gives the submission's results, wrong and right ones, within the
    tolerance; where the submission raised an exception, the variant must raise one of the same
    name. Signs, such as a changed input, are named beside what explains the numbers. If no
    mistake explains everything by itself, pairs are tried; two are named only if no other pair
    explains as much.
    """
    failed = [item for run in runs for item in run if not item.verdict.passed]
    if not failed or any(isinstance(item.verdict.problem, Refused) for item in failed):
        return []
    search = _Search(exercise, runs)
    found = search.single()
    if found is None:
        found = search.pair()
    if found is None:
        # A sign is a fact, whatever the numbers are; it is named if each failed case shows it.
        if any(item.verdict.sign not in search.signs for item in failed):
            return []
        found = []
    # Where a variant gives the same numbers, it explains too why they do not repeat.
    signs = search.signs - {Sign.NOT_REPEATABLE} if found else search.signs
    known = [*found, *(mistake for mistake in search.bank if mistake.sign in signs)]
    return [as_message(mistake) for mistake in known][:_MAX_MISTAKES]


def as_message(known: KnownMistake) -> Mistake:
    """Return the mistake as a report names it."""
    return Mistake(
        id=known.id,
        explanation=known.explanation,
        step=known.step,
        formula=known.formula,
        line=known.line,
        test=known.test,
    )


def compose(exercise: Exercise, mistakes: Sequence[KnownMistake]) -> type | None:
    """Return the reference with several mistakes made; None if they replace a common step."""
    reference = reference_class(exercise)
    variants = [known.variant for known in mistakes if known.variant]
    replaced = [_steps(variant, reference) for variant in variants]
    if any(one & other for one, other in combinations(replaced, 2)):
        return None
    name = "And".join(variant.__name__ for variant in variants)
    # A class may not stand before one that derives from it.
    variants = [v for v in variants if not any(v in w.__mro__[1:] for w in variants)]
    return type(name, tuple(variants), {"shared": {}})


def _steps(variant: type, reference: type) -> set[str]:
    own = [cls for cls in variant.__mro__ if issubclass(cls, reference) and cls is not reference]
    return {name for cls in own for name, value in vars(cls).items() if callable(value)}


class _Search:
    """The hypotheses on one submission, and what speaks against each."""

    def __init__(self, exercise: Exercise, runs: Sequence[Sequence[JudgedCase]]) -> None:
        self.exercise = exercise
        self.runs = runs
        self.bank: list[KnownMistake] = list(exercise.module("mistakes").MISTAKES)
        signs = {s for run in runs for item in run for s in signs_of(item.case, item.played)}
        # The other signs follow from a changed input where it is used again.
        changed = Sign.INPUT_MODIFIED in signs
        self.signs = {Sign.INPUT_MODIFIED} if changed else signs

    def single(self) -> list[KnownMistake] | None:
        """Return every mistake that explains the numbers; none if signs are all that is wrong."""
        if self.signs and self._explains(_Hypothesis((), reference_class(self.exercise))):
            return []
        found: dict[str, KnownMistake] = {}
        for hypothesis in self._singles():
            (known,) = hypothesis.mistakes
            if known.id not in found and self._explains(hypothesis):
                found[known.id] = known
        return list(found.values()) or None

    def pair(self) -> list[KnownMistake] | None:
        """Return the two mistakes that explain the numbers together, if no other two do."""
        deadline = time.thread_time() + _PAIRS_SECONDS
        found: dict[frozenset[str], _Hypothesis] = {}
        for hypothesis in self._pairs():
            if time.thread_time() > deadline:
                return None
            if hypothesis.ids not in found and self._explains(hypothesis):
                found[hypothesis.ids] = hypothesis
        if len(found) != 1:
            return None
        (only,) = found.values()
        return list(only.mistakes)

    def _singles(self) -> Iterator[_Hypothesis]:
        for known in self.bank:
            if known.variant:
                yield _Hypothesis((known,), known.variant, known.native, known.wide_results)

    def _pairs(self) -> Iterator[_Hypothesis]:
        single = [known for known in self.bank if known.variant and not known.native]
        for one, other in combinations(single, 2):
            if one.id == other.id:
                continue
            variant = compose(self.exercise, (one, other))
            if variant:
                wide = one.wide_results or other.wide_results
                yield _Hypothesis((one, other), variant, wide_results=wide)

    def _explains(self, hypothesis: _Hypothesis) -> bool:
        return all(self._explains_run(hypothesis, run) for run in self.runs)

    def _explains_run(self, hypothesis: _Hypothesis, run: Sequence[JudgedCase]) -> bool:
        # What a variant keeps on its class must not outlive the run, as in the runner.
        cls = type(hypothesis.variant.__name__, (hypothesis.variant,), {"shared": {}})
        return all(
            self._says_nothing(item.case, hypothesis)
            or _explains_case(self.exercise, hypothesis, cls, item)
            for item in run
        )

    def _says_nothing(self, case: Case, hypothesis: _Hypothesis) -> bool:
        """True where a changed input is used again, so that the numbers follow from the change.

        Also for arithmetic in bfloat16: NumPy adds up in bfloat16, CuPy in float32.
        """
        if hypothesis.native and case.dtype.name == dtypes.BFLOAT16:
            return True
        return Sign.INPUT_MODIFIED in self.signs and case.group == "state"


def _explains_case(exercise: Exercise, known: _Hypothesis, cls: Any, item: JudgedCase) -> bool:
    try:
        variant = play_exactly(exercise, cls, item.case, native=known.native)
    except _VARIANT_ERRORS as error:
        problem = item.played.problem
        return isinstance(problem, Raised) and problem.name == type(error).__name__
    if item.played.problem:
        return False
    if _all_agree(known, item, variant, [0.0] * len(variant)):
        return True
    # A variant may cancel where the reference does not. How far its own result moves when it is
    # computed in the case's dtype tells how far a submission's may.
    try:
        rounded = play_exactly(exercise, cls, item.case, native=True)
    except _VARIANT_ERRORS:
        return False
    drifts = [_drift(a, b) for a, b in zip(variant, rounded, strict=True)]
    return _all_agree(known, item, variant, drifts)


def _all_agree(
    known: _Hypothesis, item: JudgedCase, variant: Sequence[Expected], drifts: Sequence[Any]
) -> bool:
    return all(
        _agrees(item.case, known, got, result, wanted, drift)
        for got, result, wanted, drift in zip(
            item.played.results, variant, item.expected, drifts, strict=False
        )
    )


def _agrees(
    case: Case,
    known: _Hypothesis,
    got: Array,
    variant: Expected,
    wanted: Expected,
    drift: Array | float,
) -> bool:
    """True if a result is what the variant gives, within the tolerance of the case's dtype.

    `drift` is what the result may be off beside. Where the variant itself is undefined, as 0/0
    is, a submission may have anything: it depends on its arithmetic alone.
    """
    if got.shape != variant.value.shape or not dtypes.is_floating(got.dtype):
        return False
    if got.dtype != case.dtype and not (known.wide_results or case.own_parameters):
        return False
    dtype = result_dtype(case, got)
    value = variant.value.astype(np.float64)
    errors = error_in_units(got, value, _scale(known, variant, wanted, value), dtype)
    with np.errstate(invalid="ignore"):
        errors[np.isinf(got) & (got == value)] = 0.0
        errors[np.abs(got - value) <= drift] = 0.0
        errors[np.isnan(value) | np.isinf(drift)] = 0.0
    if case.bad_rows is not None and errors.ndim == case.bad_rows.ndim + 1:
        errors[case.bad_rows] = 0.0
    limit = limit_in_units(
        dtype,
        case.shape[-1],
        math.prod(case.shape[:-1]),
        summed_over_rows=variant.quantity not in ("y", "dx"),
    )
    slack = _NATIVE_SLACK if known.native and case.dtype == np.float16 else 1.0
    return bool((errors <= limit * slack).all())


def _drift(exact: Expected, rounded: Expected) -> Array:
    """Return how far a row's results may move by rounding; infinite where that is undefined."""
    with np.errstate(invalid="ignore"):
        moved = np.abs(rounded.value.astype(np.float64) - exact.value)
    moved[np.isnan(moved)] = np.inf
    return _DRIFT_SLACK * np.broadcast_to(_row_maximum(moved), moved.shape)


def _row_maximum(magnitude: Array) -> Array:
    if magnitude.ndim == 0:
        return magnitude
    maximum: Array = magnitude.max(axis=-1, keepdims=True, initial=0.0)
    return maximum


def _scale(known: _Hypothesis, variant: Expected, wanted: Expected, value: Array) -> Array:
    """Return the size of the variant's terms: its own, or the reference's for native ones.

    A result of a wrong shape has no size of its own; the largest number about it stands in.
    """
    magnitude = np.abs(value)
    size = wanted.scale if known.native else variant.scale
    if size is not None and size.shape == value.shape:
        # The largest number of a row tells the size of its terms where they cancel.
        # A size that is NaN says nothing.
        return np.fmax(np.fmax(size, magnitude), _row_maximum(magnitude))
    parts = [part.max(initial=0.0) for part in (magnitude, wanted.scale) if part is not None]
    return np.full(value.shape, max(parts))
