"""The few array helpers that the references share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PIECE_BYTES: Final = 256 * 1024
"""Rows taken at a time, so that they and their temporaries stay in the second-level cache."""


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in: float64 for float64, float32 for anything narrower."""
    return np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)


def sum_over_rows(values: Array) -> Array:
    """Sum (..., D) over all axes but the last; the result is (D,), also for one row or none."""
    return values.sum(axis=tuple(range(values.ndim - 1)))


def rough_mean(*factors: Array) -> Array:
    """Return the mean over the last axis of one (..., D), or of a product of two: (..., 1).

    For sizes, of which few digits are needed: several times as fast as `mean`, and no product is
    made, but the rounding error grows with D.
    """
    rows = ",".join(["...i"] * len(factors))
    mean = np.einsum(f"{rows}->...", *factors) / max(factors[0].shape[-1], 1)
    return mean[..., None]


def row_pieces(rows: Array, work: np.dtype[Any]) -> Iterator[slice]:
    """Yield slices of rows (N, D) that take about `PIECE_BYTES` each in the dtype `work`."""
    step = _rows_at_a_time(rows, work)
    for start in range(0, len(rows), step):
        yield slice(start, start + step)


def spare_piece(rows: Array, work: np.dtype[Any]) -> Array:
    """Return an array that any of the pieces of `row_pieces` fits into, for use by all of them."""
    return np.empty((min(len(rows), _rows_at_a_time(rows, work)), rows.shape[-1]), work)


def _rows_at_a_time(rows: Array, work: np.dtype[Any]) -> int:
    return max(1, PIECE_BYTES // max(1, rows.shape[-1] * work.itemsize))
