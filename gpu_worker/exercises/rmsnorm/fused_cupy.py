"""RMSNorm by the kernels of `kernels.cu`: what a good submission to the CuPy track can reach.

Forward reads x once and writes y once; backward reads x and dout once and writes dx once, see
`launch` for the least that must be moved.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import cupy as cp
import numpy as np

from gpu_worker.exercises.cupy_rows import as_rows
from gpu_worker.exercises.rmsnorm.launch import LAUNCHES
from gpu_worker.exercises.row_launch import C_TYPES, Plan, pack_size

SOURCE: Final = Path(__file__).with_name("kernels.cu").read_text(encoding="utf-8")


@cache
def module_of(names: tuple[str, ...]) -> Any:
    """Return the module with these instances of the kernels, made once."""
    return cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=names)


# CuPy compiles a module when a kernel of it is first taken. Where modules are compiled as soon as
# they are made, those that any program needs are compiled side by side, and so are those of forward
# and backward over rows of one kind.
for _dtype in C_TYPES:
    for _names in LAUNCHES.for_short_rows(_dtype):
        module_of(_names)


def _run(dtype: str, plan: Plan, *arguments: Any) -> None:
    module = module_of(LAUNCHES.together(dtype, plan.kernel))
    module_of(LAUNCHES.next_to(dtype, plan.kernel))
    kernel = module.get_function(plan.kernel)
    kernel(plan.grid, plan.block, arguments, shared_mem=plan.shared_bytes)


class RMSNormScratch:
    """Normalize rows by their root mean square, in fused kernels."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.dgamma: Any = None

    def forward(self, x: Any) -> Any:
        """Return y (..., D) with the dtype of x (..., D), of any layout.

        x is kept for backward and must not change until then.
        """
        self.x = rows = as_rows(x)
        self.work = np.float64 if x.dtype == np.float64 else np.float32
        y = cp.empty(x.shape, x.dtype)
        self.rstd = cp.empty(rows.count, self.work)
        if rows.count:
            gamma = cp.ascontiguousarray(self.gamma.astype(x.dtype, copy=False))
            pack = pack_size(
                x.dtype.name, self.dim, (rows.row_step,), (rows.column_step,),
                rows.array.data.ptr | gamma.data.ptr,
            )  # fmt: skip
            _run(
                x.dtype.name,
                LAUNCHES.forward(x.dtype.name, rows.count, self.dim, pack),
                *(rows.array, np.int64(rows.row_step), np.int64(rows.column_step), gamma, y),
                *(self.rstd, np.int64(rows.count), np.int32(self.dim), self.work(self.eps)),
            )
        return y

    def backward(self, dout: Any) -> Any:
        """Return dx (..., D), and set dgamma (D,) with the dtype of gamma."""
        x, d = self.x, as_rows(dout)
        dtype = dout.dtype.name
        dx = cp.empty(dout.shape, dout.dtype)
        if not x.count:
            self.dgamma = cp.zeros(self.dim, self.gamma.dtype)
            return dx
        gamma = cp.ascontiguousarray(self.gamma.astype(dout.dtype, copy=False))
        pack = pack_size(
            dtype, self.dim, (x.row_step, d.row_step), (x.column_step, d.column_step),
            x.array.data.ptr | d.array.data.ptr | gamma.data.ptr,
        )  # fmt: skip
        plan = LAUNCHES.backward(dtype, x.count, self.dim, pack)
        sources = (
            *(x.array, np.int64(x.row_step), np.int64(x.column_step)),
            *(d.array, np.int64(d.row_step), np.int64(d.column_step)),
        )
        sizes = (np.int64(x.count), np.int32(self.dim))
        if "long" in plan.kernel:
            _run(dtype, plan, *sources, gamma, self.rstd, dx, *sizes)
            banded = LAUNCHES.columns(dtype, x.count, self.dim)
            parts = cp.empty((banded.grid[1], self.dim), self.work)
            _run(dtype, banded, *sources, self.rstd, parts, *sizes)
        else:
            parts = cp.empty((plan.grid[0], self.dim), self.work)
            _run(dtype, plan, *sources, gamma, self.rstd, dx, parts, *sizes)
        dgamma = cp.empty(self.dim, dout.dtype)
        adding = LAUNCHES.add_parts(dtype, self.dim)
        _run(dtype, adding, parts, dgamma, np.int32(len(parts)), np.int32(self.dim))
        self.dgamma = dgamma.astype(self.gamma.dtype, copy=False)
        return dx
