"""RMSNorm as fast as plain NumPy goes: the yardstick that submissions are timed beside.

A few rows at a time, so that temporaries stay in the processor's second-level cache; one output
array; nothing kept of forward but x and one number per row. Formulas as in `reference_numpy`.
"""

from __future__ import annotations

import numpy as np

from gpu_worker.exercises.accumulate import Array, row_pieces, spare_piece, working_dtype


class RMSNormScratch:
    """RMSNorm in pieces of rows; the interface is the exercise's."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma: Array = np.ones(dim, dtype=np.float32)
        self.dgamma: Array | None = None

    def forward(self, x: Array) -> Array:
        """Return y (..., D) with the dtype of x (..., D). x must not change before backward."""
        work = working_dtype(x.dtype)
        self.x = x.reshape(-1, self.dim)
        self.rstd = np.empty((len(self.x), 1), work)
        gamma = self.gamma.astype(work)
        y = np.empty(self.x.shape, x.dtype)
        for piece in row_pieces(self.x, work):
            rows = self.x[piece].astype(work, copy=False)
            mean_square = np.vecdot(rows, rows) / work.type(self.dim)
            rstd = 1.0 / np.sqrt(mean_square + work.type(self.eps))
            self.rstd[piece] = rstd[:, None]
            if y.dtype == work:
                out = np.multiply(rows, self.rstd[piece], out=y[piece])
                out *= gamma
            else:
                y[piece] = rows * self.rstd[piece] * gamma
        return y.reshape(x.shape)

    def backward(self, dout: Array) -> Array:
        """Return dx (..., D) for dout (..., D), and set dgamma (D,) with the dtype of gamma."""
        work = self.rstd.dtype
        flat = dout.reshape(-1, self.dim)
        gamma = self.gamma.astype(work)
        dgamma = np.zeros(self.dim)
        dx = np.empty(flat.shape, dout.dtype)
        spare = spare_piece(flat, work)
        for piece in row_pieces(flat, work):
            rstd = self.rstd[piece]
            xhat = np.multiply(self.x[piece], rstd, out=spare[: len(rstd)], dtype=work)
            d = flat[piece].astype(work, copy=False)
            dgamma += np.einsum("ij,ij->j", d, xhat)
            # In the result's own memory where that is wide enough: one array less to go through.
            g = np.multiply(d, gamma, out=dx[piece] if dx.dtype == work else None)
            xhat *= np.vecdot(g, xhat)[:, None] / work.type(self.dim)
            g -= xhat
            g *= rstd
            if dx.dtype != work:
                dx[piece] = g
        self.dgamma = dgamma.astype(self.gamma.dtype)
        return dx.reshape(dout.shape)
