"""What is timed, in order of importance: what comes last is left out first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

DIMS: Final = (4096, 1024, 16384, 512, 128, 8192, 65536, 2048, 256, 32768)
"""Rows of 128 to 65,536 numbers. An early end leaves a coarser grid, not half of one."""
DTYPES: Final = ("float32", "bfloat16", "float16")
EXERCISES: Final = ("rmsnorm", "layernorm")
DIRECTIONS: Final = ("forward", "backward")
CALL_BYTES: Final = 500_000_000
"""What a forward pass must move at least, so that neither caches nor launches count."""
ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}


@dataclass(frozen=True, slots=True)
class Cell:
    """One pass over x (rows, dim)."""

    exercise: str
    direction: str
    dtype: str
    rows: int
    dim: int

    @property
    def least_bytes(self) -> int:
        """What any program must move: x and y, or x, dout and dx."""
        arrays = 2 if self.direction == "forward" else 3
        return arrays * self.rows * self.dim * ITEM_BYTES[self.dtype]

    def __str__(self) -> str:
        return f"{self.exercise} {self.direction} {self.dtype} ({self.rows}, {self.dim})"


def cells(
    dims: tuple[int, ...] = DIMS,
    dtypes: tuple[str, ...] = DTYPES,
    exercises: tuple[str, ...] = EXERCISES,
    call_bytes: int = CALL_BYTES,
) -> Iterator[Cell]:
    """Yield every cell, the most telling first."""
    for dim in dims:
        for dtype in dtypes:
            rows = -(-call_bytes // (2 * dim * ITEM_BYTES[dtype]))
            for exercise in exercises:
                for direction in DIRECTIONS:
                    yield Cell(exercise, direction, dtype, rows, dim)
