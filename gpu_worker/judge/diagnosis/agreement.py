"""Compares the results of a submission with those that a hypothesis predicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.reference import Array, Expected, play_exactly, reference_class
from gpu_worker.judge.cases.units import error_in_units, limit_in_units
from gpu_worker.judge.diagnosis.hypotheses import Hypothesis, fresh
from gpu_worker.judge.diagnosis.steps import steps_of, with_changed_step
from gpu_worker.judge.verdict.compare import CaseVerdict, result_dtype
from gpu_worker.judge.verdict.transcript import PlayedCase, Raised

_NATIVE_SLACK = 8.0
"""Variants in low precision round in another order than the submission does."""
_DRIFT_SLACK = 4.0
_TIMES_ROUNDED = 4
FAR = 1e3
_WAYS = np.random.default_rng(1).choice((-1.0, 1.0), 1021)
"""Up or down, without a pattern that a sum over rows could cancel."""
VARIANT_ERRORS = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A case with what the submission gave and how it was judged."""

    case: Case
    played: PlayedCase
    expected: Sequence[Expected]
    verdict: CaseVerdict


def explains_case(exercise: Exercise, known: Hypothesis, cls: Any, item: JudgedCase) -> bool:
    """True if all that a case gave is what the hypothesis gives, played by `cls`."""
    try:
        variant = play_exactly(exercise, cls, item.case, native=known.native)
    except VARIANT_ERRORS as error:
        problem = item.played.problem
        return isinstance(problem, Raised) and problem.name == type(error).__name__
    if item.played.problem:
        return False
    exact: list[Array | float] = [0.0] * len(variant)
    worst = _worst(known, item, variant, exact)
    if worst <= 1.0:
        return True
    if (known.one_of_many or len(known.mistakes) > 1) and worst > FAR:
        return False  # They are too many to look further at those that are far off.
    # A variant may cancel where the reference does not, or leave out what makes the terms small.
    # How far its result moves when computed in the case's dtype shows how far a submission's may.
    # For float64, in which it is computed already, each step is moved by one unit instead.
    drifts: list[Array | float] = exact
    noise = [fresh(moved) for moved in known.noise(item.case.dtype)] if known.noise else []
    for moved in noise or _computed_otherwise(exercise, cls, item.case.dtype):
        try:
            rounded = play_exactly(exercise, moved, item.case, native=not noise)
        except VARIANT_ERRORS:
            return False
        slack = 1.0 if noise else _DRIFT_SLACK
        drifts = [
            np.maximum(so_far, slack * _drift(one, other))
            for so_far, one, other in zip(drifts, variant, rounded, strict=True)
        ]
        worst = _worst(known, item, variant, drifts)
        if worst <= 1.0 or (worst > FAR and not noise):
            break
    return worst <= 1.0


def _computed_otherwise(exercise: Exercise, cls: type, dtype: np.dtype[Any]) -> Iterator[type]:
    """Yield the class with other rounding errors, several times where those are made up.

    By chance the errors of one time may take each other away where all terms do.
    """
    if dtype != np.float64:
        yield cls
        return
    for number in range(_TIMES_ROUNDED):
        yield _rounded_in_each_step(exercise, cls, number)


def shares_of_tolerance(exercise: Exercise, item: JudgedCase) -> list[float]:
    """Return the largest error of each result of a case as a share of the tolerance.

    Infinite where the case was not played to its end.
    """
    if item.played.problem:
        return [math.inf]
    right = Hypothesis((), reference_class(exercise))
    variant = play_exactly(exercise, right.variant, item.case, native=right.native)
    triples = zip(item.played.results, variant, item.expected, strict=False)
    return [_excess(item.case, right, *triple, 0.0) for triple in triples]


def is_far_off(exercise: Exercise, known: Hypothesis, cls: Any, item: JudgedCase) -> bool:
    """True if a hypothesis of several mistakes explains nothing that passes this case.

    `item` is the case as the reference plays it. Another right result is as far from the
    hypothesis's, but for the tolerance.
    """
    try:
        variant = play_exactly(exercise, cls, item.case, native=known.native)
    except VARIANT_ERRORS:
        return True
    return _worst(known, item, variant, [0.0] * len(variant)) > 2.0 * FAR


def _rounded_in_each_step(exercise: Exercise, cls: type, number: int) -> type:
    """Return the class with what each step gives one unit up or down, each time another way.

    Another `number` gives other ways.
    """
    unit = np.finfo(np.float64).eps
    calls = count(37 * number)

    def move(values: Array) -> Array:
        ways = np.resize(np.roll(_WAYS, 7 * next(calls)), values.size).reshape(values.shape)
        return values * (1.0 + unit * ways)

    for name in steps_of(reference_class(exercise)):
        cls = with_changed_step(cls, name, move)
    return cls


def too_coarse(
    exercise: Exercise, known: Hypothesis, cls: Any, item: JudgedCase
) -> Iterator[tuple[int, Array, Expected]]:
    """Yield the results of a case that are not as exact as their dtype.

    Each with its place among the results, and with what was expected.
    """
    if item.played.problem:
        return
    variant = play_exactly(exercise, cls, item.case, native=known.native)
    triples = zip(item.played.results, variant, item.expected, strict=False)
    for place, (got, result, wanted) in enumerate(triples):
        if (
            got.shape == result.value.shape
            and _excess(item.case, known, got, result, wanted, 0.0) > 1.0
        ):
            yield place, got, result


def _worst(
    known: Hypothesis, item: JudgedCase, variant: Sequence[Expected], drifts: Sequence[Any]
) -> float:
    """Return the largest error of a case as a share of the tolerance; at once if it is far off."""
    worst = 0.0
    for got, result, wanted, drift in zip(
        item.played.results, variant, item.expected, drifts, strict=False
    ):
        worst = max(worst, _excess(item.case, known, got, result, wanted, drift))
        if worst > FAR:
            break
    return worst


def _excess(
    case: Case,
    known: Hypothesis,
    got: Array,
    variant: Expected,
    wanted: Expected,
    drift: Array | float,
) -> float:
    """Return how far a result is from the variant's: its largest error as a share of the tolerance.

    Zero for whatever is within it beyond doubt.
    That is the tolerance of x's dtype; infinite for another shape or dtype. `drift` is what
    the result may be off beside. Where the variant itself is undefined, as 0/0 is, a submission may
    have anything: it depends on its arithmetic alone.
    """
    if got.shape != variant.value.shape or not dtypes.is_floating(got.dtype):
        return math.inf
    dtype, exact_as = result_dtype(wanted, got), known.exact_as
    # NumPy treats None as float64, so None must not be compared.
    as_exact = exact_as is not None and got.dtype == exact_as
    leaks = known.wide_results and got.dtype == np.float64
    if got.dtype != wanted.dtype and not (leaks or as_exact):
        return math.inf
    if exact_as is not None:
        dtype = min(dtype, exact_as, key=lambda one: one.itemsize)
    value = variant.value.astype(np.float64)
    limit = limit_in_units(
        dtype,
        wanted.x_shape[-1],
        wanted.rows,
        summed_over_rows=variant.quantity not in ("y", "dx"),
    )
    slack = _NATIVE_SLACK if known.native and wanted.dtype == np.float16 else 1.0
    if _is_near(got, value, limit * slack * float(dtypes.limits_of(dtype).eps)):
        return 0.0
    errors = error_in_units(got, value, _scale(known, variant, wanted, value), dtype)
    with np.errstate(invalid="ignore"):
        errors[np.isinf(got) & (got == value)] = 0.0
        errors[np.abs(got - value) <= drift] = 0.0
        errors[np.isnan(value) | np.isinf(drift)] = 0.0
    if case.bad_rows is not None and errors.ndim == case.bad_rows.ndim + 1:
        errors[case.bad_rows] = 0.0
    return float(errors.max(initial=0.0) / (limit * slack))


def _is_near(got: Array, value: Array, share: float) -> bool:
    """True if each number differs by so little that it is within the tolerance in any case.

    The terms of a number are at least as large as the number. Costs a tenth of looking further.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((np.abs(got - value) <= share * np.abs(value)).all())


def _drift(exact: Expected, rounded: Expected) -> Array:
    """Return how far a row's results may move by rounding; infinite where that is undefined."""
    with np.errstate(invalid="ignore"):
        moved = np.array(np.abs(rounded.value.astype(np.float64) - exact.value))
    # An infinity of either sign is a result like any other; it gives finite values no tolerance.
    moved[rounded.value == exact.value] = 0.0
    moved[np.isnan(moved)] = np.inf
    return np.broadcast_to(_row_maximum(moved), moved.shape)


def _row_maximum(magnitude: Array) -> Array:
    if magnitude.ndim == 0:
        return magnitude
    maximum: Array = magnitude.max(axis=-1, keepdims=True, initial=0.0)
    return maximum


def _scale(known: Hypothesis, variant: Expected, wanted: Expected, value: Array) -> Array:
    """Return the size of the variant's terms: its own, or the reference's for native ones.

    A result of a wrong shape has no size of its own; the largest number about it stands in.
    """
    magnitude = np.abs(value)
    size = wanted.scale if known.native else variant.scale
    if size is not None and size.shape == value.shape:
        # Where terms cancel, the largest number of the row shows their size.
        # A NaN size says nothing.
        return np.fmax(np.fmax(size, magnitude), _row_maximum(magnitude))
    parts = [part.max(initial=0.0) for part in (magnitude, wanted.scale) if part is not None]
    return np.full(value.shape, max(parts))
