"""Distinguishes a deviation that lost digits to cancellation from other errors in the same rows.

Where large numbers cancel in the variance, a row's first result is correct up to one factor: what
is added later, such as beta, is not affected, and the elements keep their proportions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.reference import Array, Expected, play_exactly
from gpu_worker.judge.cases.units import error_in_units, limit_in_units
from gpu_worker.judge.diagnosis.agreement import JudgedCase
from gpu_worker.judge.verdict.compare import result_dtype

_FEWEST: Final = 3
"""The fewest elements of a row for which a common factor is significant."""


def are_off_by_factors(
    exercise: Exercise,
    variant: type,
    noise: Callable[[np.dtype[Any]], tuple[type, ...]],
    items: Sequence[JudgedCase],
) -> bool:
    """True if rows of y are outside the tolerance, and a factor for each is all that is wrong."""
    rows = [
        right
        for item in items
        if not item.played.problem
        for right in _rows(exercise, variant, noise(item.case.dtype)[0], item)
    ]
    return bool(rows) and all(rows)


def _rows(exercise: Exercise, variant: type, moved: type, item: JudgedCase) -> Iterator[bool]:
    """Yield for each row of y that is off whether a factor explains it."""
    exact = play_exactly(exercise, variant, item.case, native=False)
    other = play_exactly(exercise, moved, item.case, native=False)
    for got, value, shifted, wanted in zip(
        item.played.results, exact, other, item.expected, strict=False
    ):
        if value.quantity == "y" and got.shape == value.value.shape and wanted.scale is not None:
            yield from _rows_of(got, value, shifted.value - value.value, wanted)


def _rows_of(got: Array, exact: Expected, way: Array, wanted: Expected) -> Iterator[bool]:
    dim = got.shape[-1]
    dtype = result_dtype(wanted, got)
    limit = limit_in_units(dtype, dim, wanted.rows, summed_over_rows=False)
    scale = np.broadcast_to(np.asarray(wanted.scale), got.shape)
    flat = (array.reshape(-1, dim) for array in (got, exact.value, way, scale))
    for values, right, direction, size in zip(*flat, strict=True):
        finite = np.isfinite(values).all() and np.isfinite(right).all()
        length = float(direction @ direction)
        if not finite or dim < _FEWEST or not np.isfinite(length):
            continue
        if error_in_units(values, right, size, dtype).max() <= limit:
            continue
        share = float((values.astype(np.float64) - right) @ direction) / length if length else 0.0
        yield bool(error_in_units(values, right + share * direction, size, dtype).max() <= limit)
