"""LayerNorm as fast as plain NumPy goes: the yardstick that submissions are timed beside.

A few rows at a time, so that temporaries stay in the processor's second-level cache; one output
array; nothing kept of forward but x and two numbers per row. Formulas as in `reference_numpy`.
"""

from __future__ import annotations

import numpy as np

from gpu_worker.exercises.accumulate import Array, row_pieces, spare_piece, working_dtype


class LayerNormScratch:
    """LayerNorm in pieces of rows; the interface is the exercise's."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma: Array = np.ones(dim, dtype=np.float32)
        self.beta: Array = np.zeros(dim, dtype=np.float32)
        self.dgamma: Array | None = None
        self.dbeta: Array | None = None

    def forward(self, x: Array) -> Array:
        """Return y (..., D) with the dtype of x (..., D). x must not change before backward."""
        work = working_dtype(x.dtype)
        self.x = x.reshape(-1, self.dim)
        self.mean, self.rstd = (np.empty((len(self.x), 1), work) for _ in range(2))
        gamma, beta = self.gamma.astype(work), self.beta.astype(work)
        y = np.empty(self.x.shape, x.dtype)
        for piece in row_pieces(self.x, work):
            rows = self.x[piece]
            out = y[piece] if y.dtype == work else np.empty(rows.shape, work)
            self.mean[piece] = np.mean(rows, axis=1, keepdims=True, dtype=work)
            np.subtract(rows, self.mean[piece], out=out, dtype=work)
            variance = np.vecdot(out, out) / work.type(self.dim)
            self.rstd[piece] = 1.0 / np.sqrt(variance + work.type(self.eps))[:, None]
            out *= self.rstd[piece]
            out *= gamma
            out += beta
            if y.dtype != work:
                y[piece] = out
        return y.reshape(x.shape)

    def backward(self, dout: Array) -> Array:
        """Return dx (..., D) for dout (..., D); set dgamma and dbeta (D,), as their parameters."""
        work = self.rstd.dtype
        flat = dout.reshape(-1, self.dim)
        gamma = self.gamma.astype(work)
        dgamma, dbeta = np.zeros(self.dim), np.zeros(self.dim)
        dx = np.empty(flat.shape, dout.dtype)
        spare = spare_piece(flat, work)
        for piece in row_pieces(flat, work):
            rstd = self.rstd[piece]
            out = spare[: len(rstd)]
            xhat = np.subtract(self.x[piece], self.mean[piece], out=out, dtype=work)
            xhat *= rstd
            d = flat[piece].astype(work, copy=False)
            dgamma += np.einsum("ij,ij->j", d, xhat)
            dbeta += np.einsum("ij->j", d)
            # In the result's own memory where that is wide enough: one array less to go through.
            g = np.multiply(d, gamma, out=dx[piece] if dx.dtype == work else None)
            xhat *= np.vecdot(g, xhat)[:, None] / work.type(self.dim)
            xhat += np.mean(g, axis=1, keepdims=True)
            g -= xhat
            g *= rstd
            if dx.dtype != work:
                dx[piece] = g
        self.dgamma, self.dbeta = dgamma.astype(self.gamma.dtype), dbeta.astype(self.beta.dtype)
        return dx.reshape(dout.shape)
