# outcome: accepted
# A few rows at a time, into one array.
import numpy as np

CHUNK = 64


class LayerNormScratch:
    __slots__ = ("dim", "eps", "gamma", "beta", "dgamma", "dbeta", "xhat", "rstd")

    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        flat = x.reshape(-1, self.dim)
        self.xhat = np.empty(flat.shape)
        self.rstd = np.empty((len(flat), 1))
        y = np.empty(flat.shape, dtype=x.dtype)
        for start in range(0, len(flat), CHUNK):
            piece = slice(start, start + CHUNK)
            rows = flat[piece].astype(np.float64)
            rows -= rows.mean(axis=1, keepdims=True)
            rstd = 1.0 / np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / self.dim + self.eps)
            rows *= rstd
            self.xhat[piece], self.rstd[piece] = rows, rstd
            y[piece] = rows * self.gamma + self.beta
        return y.reshape(x.shape)

    def backward(self, dout):
        d = dout.reshape(-1, self.dim)
        dx = np.empty(d.shape, dtype=dout.dtype)
        dgamma, dbeta = np.zeros(self.dim), np.zeros(self.dim)
        for start in range(0, len(d), CHUNK):
            piece = slice(start, start + CHUNK)
            g, xhat = d[piece].astype(np.float64), self.xhat[piece]
            dgamma += np.einsum("ij,ij->j", g, xhat)
            dbeta += g.sum(axis=0)
            g *= self.gamma
            projection = np.vecdot(g, xhat)[:, None] / self.dim
            g -= g.mean(axis=1, keepdims=True)
            g -= xhat * projection
            dx[piece] = g * self.rstd[piece]
        self.dgamma, self.dbeta = dgamma.astype(self.gamma.dtype), dbeta.astype(self.beta.dtype)
        return dx.reshape(dout.shape)
