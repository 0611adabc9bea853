"""The few array helpers that the references share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to compute in: float64 for float64, float32 for anything narrower."""
    return np.dtype(np.float64) if dtype == np.float64 else np.dtype(np.float32)


def sum_over_rows(values: Array) -> Array:
    """Sum (..., D) over all axes but the last; the result is (D,), also for one row or none."""
    return values.sum(axis=tuple(range(values.ndim - 1)))
