"""The unit in which errors are measured, and how many units are allowed, the same everywhere.

    unit  = u * scale + smallest subnormal         u = spacing of the dtype at 1
    error = |got - expected| / unit

`scale` is the size of the terms that were added to make the result (see `term_sizes` of the
references), so that a result that nearly cancels is not held to an accuracy that no arithmetic
of that width can reach. Over many seeds, honest code stayed within two thirds of its limit: see
`bench/results/verdicts_honest.json`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpu_worker.judge.cases import dtypes

Floats = NDArray[np.float64]

FLOAT64_LIMIT: Final = 64.0
FLOAT32_LIMIT: Final = 32.0
FLOAT32_LONG_ROW_LIMIT: Final = 64.0
LONG_ROW: Final = 16_384
HALF_LIMIT: Final = 1.5
"""For float16 and bfloat16."""
PER_ROOT_OF_ROWS: Final = 0.5
"""A sum over N rows in float32 may be off by this many units times sqrt(N) more."""

HISTOGRAM_START: Final = 0.25
HISTOGRAM_BUCKETS: Final = 24


def limit_in_units(dtype: np.dtype[Any], dim: int, rows: int, *, summed_over_rows: bool) -> float:
    """Return how many units a result of this dtype may be off.

    `dim` is the length of a row, `rows` the number of rows; `summed_over_rows` is true for the
    gradients of parameters.
    """
    if dtype == np.float64:
        return FLOAT64_LIMIT
    if dtypes.is_half(dtype):
        return HALF_LIMIT
    limit = FLOAT32_LONG_ROW_LIMIT if dim > LONG_ROW else FLOAT32_LIMIT
    return limit + PER_ROOT_OF_ROWS * math.sqrt(rows) if summed_over_rows else limit


def unit_sizes(scale: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return how large one unit of `dtype` is where the terms have this size."""
    info = dtypes.limits_of(dtype)
    return np.asarray(float(info.eps) * scale + float(info.smallest_subnormal))


def error_in_units(
    got: NDArray[Any], expected: Floats, scale: Floats, dtype: np.dtype[Any]
) -> Floats:
    """Return the error of each element in units of `dtype`; infinite where `got` is NaN.

    All arrays have one shape. Where the expected value does not fit into `dtype`, the infinity
    or the largest number of the same sign is right.
    """
    info = dtypes.limits_of(dtype)
    u, largest = float(info.eps), float(info.max)
    bound = largest * (1 - u)
    with np.errstate(invalid="ignore", over="ignore"):
        wide = got.astype(np.float64)
        error = np.asarray(wide - expected)
        np.abs(error, out=error)
        error /= unit_sizes(scale, dtype)
        if error.size and not -bound < expected.min() <= expected.max() < bound:
            overflows = np.abs(expected) >= bound
            error[overflows & (wide * np.sign(expected) >= bound)] = 0.0
        if error.size and np.isnan(error.max()):
            error[np.isnan(error)] = np.inf
    return error


def histogram(errors: Floats) -> list[int]:
    """Count errors per bucket: up to 0.25, 0.5, 1, 2, ... units; the last takes the rest."""
    edges = HISTOGRAM_START * 2.0 ** np.arange(HISTOGRAM_BUCKETS - 1)
    buckets = np.searchsorted(edges, errors.ravel(), side="left")
    counts = np.bincount(buckets, minlength=HISTOGRAM_BUCKETS)
    return [int(count) for count in counts]
