"""Looks for the known mistakes that explain everything a submission got."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.case import Case
from gpu_worker.judge.compare import CaseVerdict, Sign
from gpu_worker.judge.reference import Array, Expected, play_exactly
from gpu_worker.judge.transcript import PlayedCase
from gpu_worker.judge.units import error_in_units, limit_in_units
from gpu_worker.protocol import Mistake

_NATIVE_SLACK = 8.0
"""Variants in low precision round in another order than the submission does."""
_MAX_MISTAKES = 8


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
    tolerance, or if every failed case shows its sign. Where the submission raised something in
    a case, nothing explains it.
    """
    failed = [item for run in runs for item in run if not item.verdict.passed]
    if not failed or any(item.verdict.problem for item in failed):
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
    except (ValueError, FloatingPointError, ArithmeticError, IndexError):
        # It does not even run on this case, and the submission did.
        return False
    return all(
        _agrees(item.case, known, got, result, wanted)
        for got, result, wanted in zip(item.played.results, variant, item.expected, strict=False)
    )


def _agrees(
    case: Case, known: KnownMistake, got: Array, variant: Expected, wanted: Expected
) -> bool:
    """True if a result is what the variant gives, within the tolerance of the case's dtype."""
    if got.shape != variant.value.shape or got.dtype.kind != "f":
        return False
    if got.dtype != case.dtype and not (known.wide_results or case.own_parameters):
        return False
    value = variant.value.astype(np.float64)
    with np.errstate(invalid="ignore"):
        scale = np.abs(value) if variant.scale is None else _largest(variant.scale, value)
    if known.native and wanted.scale is not None and wanted.scale.shape == value.shape:
        scale = _largest(wanted.scale, value)
    errors = error_in_units(got, value, scale, case.dtype)
    both_nan = np.isnan(got) & np.isnan(value)
    both_infinite = np.isinf(got) & (got == value)
    errors[both_nan | both_infinite] = 0.0
    if case.bad_rows is not None and errors.ndim == case.bad_rows.ndim + 1:
        errors[case.bad_rows] = 0.0
    rows = case.shape[:-1]
    limit = limit_in_units(
        case.dtype,
        case.shape[-1],
        int(np.prod(rows)),
        summed_over_rows=variant.quantity not in ("y", "dx"),
    )
    slack = _NATIVE_SLACK if known.native and case.dtype == np.float16 else 1.0
    return bool((errors <= limit * slack).all())


def _largest(scale: Array, value: Array) -> Array:
    """Return the larger of both, where the shapes allow it; a wrong shape has no scale."""
    magnitude = np.abs(value)
    return np.maximum(scale, magnitude) if scale.shape == value.shape else magnitude
