"""Inputs that are drawn on the device, so that fresh ones for every call cost little time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from bench.on_device.api import Device
from bench.on_device.plan import Cell
from gpu_worker.judge.cases import dtypes

_C_TYPES: Final = {"float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16"}
_THREADS: Final = 256
_MOST_BLOCKS: Final = 4096
_SOURCE: Final = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// Numbers between -1.75 and 1.75, of a variance near 1: a hash of the position and a seed.
template <typename T>
__global__ void draw(T* out, long long count, unsigned int seed) {
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned int h = (unsigned int)i * 2654435769u + seed + (unsigned int)(i >> 32);
        h ^= h >> 16; h *= 0x7feb352du; h ^= h >> 15; h *= 0x846ca68bu; h ^= h >> 16;
        out[i] = (T)((float)(h >> 8) * (3.5f / 16777216.0f) - 1.75f);
    }
}
"""


@cache
def _kernel(xp: Any, dtype: str) -> Any:
    name = f"draw<{_C_TYPES[dtype]}>"
    module = xp.RawModule(code=_SOURCE, options=("-std=c++17",), name_expressions=[name])
    return module.get_function(name)


def refill(device: Device, array: Any, seed: int) -> None:
    """Queue the drawing of other numbers into a contiguous array."""
    blocks = min(-(-array.size // _THREADS), _MOST_BLOCKS)
    kernel = _kernel(device.xp, array.dtype.name)
    kernel((blocks,), (_THREADS,), (array, np.int64(array.size), np.uint32(seed % 2**32)))


@dataclass(slots=True)
class InputSet:
    """x and dout (rows, dim), gamma and beta (dim,), all of the cell's dtype."""

    x: Any
    dout: Any
    gamma: Any
    beta: Any


def make_sets(device: Device, cell: Cell, count: int, seed: int) -> list[InputSet]:
    """Return sets of inputs for a cell, no two with the same numbers."""
    xp, dtype = device.xp, dtypes.named(cell.dtype)
    made = []
    for number in range(count):
        arrays = [
            xp.empty(shape, dtype)
            for shape in ((cell.rows, cell.dim), (cell.rows, cell.dim), (cell.dim,), (cell.dim,))
        ]
        for place, array in enumerate(arrays):
            refill(device, array, seed + 4 * number + place)
        made.append(InputSet(*arrays))
    return made
