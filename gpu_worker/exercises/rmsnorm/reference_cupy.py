"""RMSNorm in CuPy's array expressions: the plain reference of the CuPy track.

The formulas are those of `reference_numpy`. Each expression is a kernel of CuPy's own that reads
its operands from device memory and writes its result there: forward moves about 3.5 times as much
as it must and backward 7 times. `fused_cupy` moves what it must.
"""

from __future__ import annotations

from typing import Any

import cupy as cp


class RMSNormScratch:
    """Normalize rows by their root mean square."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.dgamma: Any = None

    def forward(self, x: Any) -> Any:
        """Return y (..., D) with the dtype of x (..., D).

        16-bit numbers and float32 are computed in float32, float64 in float64.
        """
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.astype(work)
        mean_square = cp.mean(self.x * self.x, axis=-1, keepdims=True)
        self.rstd = 1.0 / cp.sqrt(mean_square + work(self.eps))
        self.xhat = self.x * self.rstd
        return (self.xhat * self.gamma.astype(work)).astype(self.dtype)

    def backward(self, dout: Any) -> Any:
        """Return dx (..., D), and set dgamma (D,) with the dtype of gamma."""
        d = dout.astype(self.x.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        weighted = d * self.gamma.astype(d.dtype)
        projection = cp.mean(weighted * self.xhat, axis=-1, keepdims=True)
        return ((weighted - self.xhat * projection) * self.rstd).astype(self.dtype)
