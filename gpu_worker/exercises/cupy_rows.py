"""Arrays of any layout as rows, for kernels: distances, and copies where they are needed.

For the fused references of the CuPy track; runs with CuPy on a device.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cupy as cp


@dataclass(frozen=True, slots=True)
class Rows:
    """An array (..., D) as `count` rows; `row_step` and `column_step` count elements.

    `array` is what must be kept while a kernel uses it.
    """

    array: Any
    count: int
    row_step: int
    column_step: int


def as_rows(array: Any) -> Rows:
    """Return the rows of an array (..., D), without a copy where one distance leads from each row
    to the next, also a negative one or zero.
    """
    *leading, dim = array.shape
    *steps, column = (stride // array.itemsize for stride in array.strides)
    count = math.prod(leading)
    step = _common_step(leading, steps)
    if step is None:
        return Rows(cp.ascontiguousarray(array), count, dim, 1)
    return Rows(array, count, step, column if dim > 1 else 1)


def _common_step(shape: list[int], steps: list[int]) -> int | None:
    """Return the distance between rows, None if there are several; any will do for one row."""
    found: int | None = None
    expected = 0
    for size, step in zip(reversed(shape), reversed(steps), strict=True):
        if size == 1:
            continue
        if found is None:
            found, expected = step, step * size
        elif step == expected:
            expected = step * size
        else:
            return None
    return found or 0
