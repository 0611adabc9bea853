"""Looks for the known mistakes that explain everything a submission got."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.case import Case
from gpu_worker.judge.compare import CaseVerdict, Sign
from gpu_worker.judge.reference import Array, Expected, play_exactly
from gpu_worker.judge.transcript import PlayedCase, Raised, Refused
from gpu_worker.judge.units import error_in_units, limit_in_units
from gpu_worker.protocol import Mistake

_NATIVE_SLACK = 8.0
"""Variants in low precision round in another order than the submission does."""
_DRIFT_SLACK = 4.0
_MAX_MISTAKES = 8
_VARIANT_ERRORS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case with what the submission gave and how it was judged."""

    case: Case
    played: PlayedCase
    expected: Sequence[Expected]
    verdict: CaseVerdict


def diagnose(exercise: Exercise, runs: Sequence[Sequence[JudgedCase]]) -> list[Mistake]:
    """Return every known mistake that explains all results of all runs; none is an answer too.

    `runs` holds the judged cases of each process that played some, in order. A mistake explains
    them if its variant gives the submission's results, wrong and right ones, within the
    tolerance, or if every failed case shows its sign. Where the submission raised an exception,
    the variant must raise one of the same name.
    """
    failed = [item for run in runs for item in run if not item.verdict.passed]
    if not failed or any(isinstance(item.verdict.problem, Refused) for item in failed):
        return []
    found: dict[str, Mistake] = {}
    for known in exercise.module("mistakes").MISTAKES:
        if known.id not in found and _explains(exercise, known, runs, failed):
            found[known.id] = as_message(known)
    return list(found.values())[:_MAX_MISTAKES]


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


def _explains(
    exercise: Exercise,
    known: KnownMistake,
    runs: Sequence[Sequence[JudgedCase]],
    failed: Iterable[JudgedCase],
) -> bool:
    if known.variant is None:
        return all(item.verdict.sign == known.sign for item in failed)
    # Only a submission that keeps its promises can be told by its numbers alone.
    if any(item.verdict.sign in (Sign.INPUT_MODIFIED, Sign.OUTPUT_REUSED) for item in failed):
        return False
    return all(_explains_run(exercise, known, run) for run in runs)


def _explains_run(exercise: Exercise, known: KnownMistake, run: Sequence[JudgedCase]) -> bool:
    # What a variant keeps on its class must not outlive the run, as in the runner.
    assert known.variant is not None  # noqa: S101  the caller has looked
    cls = type(known.variant.__name__, (known.variant,), {"shared": {}})
    return all(_explains_case(exercise, known, cls, item) for item in run)


def _explains_case(exercise: Exercise, known: KnownMistake, cls: Any, item: JudgedCase) -> bool:
    try:
        variant = play_exactly(exercise, cls, item.case, native=known.native)
    except _VARIANT_ERRORS as error:
        problem = item.verdict.problem
        return isinstance(problem, Raised) and problem.name == type(error).__name__
    if item.verdict.problem:
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
    known: KnownMistake, item: JudgedCase, variant: Sequence[Expected], drifts: Sequence[Any]
) -> bool:
    return all(
        _agrees(item.case, known, got, result, wanted, drift)
        for got, result, wanted, drift in zip(
            item.played.results, variant, item.expected, drifts, strict=False
        )
    )


def _agrees(
    case: Case,
    known: KnownMistake,
    got: Array,
    variant: Expected,
    wanted: Expected,
    drift: Array | float,
) -> bool:
    """True if a result is what the variant gives, within the tolerance of the case's dtype.

    `drift` is what the result may be off beside. Where the variant itself is undefined, as 0/0
    is, a submission may have anything: it depends on its arithmetic alone.
    """
    if got.shape != variant.value.shape or got.dtype.kind != "f":
        return False
    if got.dtype != case.dtype and not (known.wide_results or case.own_parameters):
        return False
    # Where the class chose gamma's dtype, its gradient is as coarse as that.
    dtype = got.dtype if case.own_parameters else case.dtype
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


def _scale(known: KnownMistake, variant: Expected, wanted: Expected, value: Array) -> Array:
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
