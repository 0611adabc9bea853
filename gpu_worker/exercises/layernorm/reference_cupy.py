"""LayerNorm in CuPy's array expressions: the plain reference of the CuPy track.

The formulas are those of `reference_numpy`. Each expression is a kernel of CuPy's own that reads
its operands from device memory and writes its result there; `fused_cupy` moves what it must.
"""

from __future__ import annotations

from typing import Any

import cupy as cp


class LayerNormScratch:
    """Centre rows and divide them by their standard deviation."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)
        self.dgamma: Any = None
        self.dbeta: Any = None

    def forward(self, x: Any) -> Any:
        """Return y (..., D) with the dtype of x (..., D).

        16-bit numbers and float32 are computed in float32, float64 in float64.
        """
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        wide = x.astype(work)
        centred = wide - cp.mean(wide, axis=-1, keepdims=True)
        variance = cp.mean(centred * centred, axis=-1, keepdims=True)
        self.rstd = 1.0 / cp.sqrt(variance + work(self.eps))
        self.xhat = centred * self.rstd
        y = self.xhat * self.gamma.astype(work) + self.beta.astype(work)
        return y.astype(self.dtype)

    def backward(self, dout: Any) -> Any:
        """Return dx (..., D); set dgamma and dbeta (D,) with the dtypes of their parameters."""
        d = dout.astype(self.xhat.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = cp.sum(d, axis=rows).astype(self.beta.dtype)
        weighted = d * self.gamma.astype(d.dtype)
        mean = cp.mean(weighted, axis=-1, keepdims=True)
        projection = cp.mean(weighted * self.xhat, axis=-1, keepdims=True)
        return ((weighted - mean - self.xhat * projection) * self.rstd).astype(self.dtype)
