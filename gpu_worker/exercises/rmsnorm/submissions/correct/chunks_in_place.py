# outcome: accepted
import numpy as np

CHUNK = 64


class RMSNormScratch:
    __slots__ = ("dim", "eps", "gamma", "dgamma", "x", "rstd")

    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.x = x.reshape(-1, self.dim).copy()
        self.rstd = np.empty((len(self.x), 1))
        y = np.empty(self.x.shape, dtype=x.dtype)
        for start in range(0, len(self.x), CHUNK):
            rows = self.x[start : start + CHUNK].astype(np.float64)
            rstd = 1.0 / np.sqrt(np.vecdot(rows, rows)[:, None] / self.dim + self.eps)
            rows *= rstd
            rows *= self.gamma
            self.rstd[start : start + CHUNK] = rstd
            y[start : start + CHUNK] = rows
        return y.reshape(x.shape)

    def backward(self, dout):
        d = dout.reshape(-1, self.dim)
        dx = np.empty(d.shape, dtype=dout.dtype)
        dgamma = np.zeros(self.dim)
        for start in range(0, len(d), CHUNK):
            piece = slice(start, start + CHUNK)
            xhat = self.x[piece] * self.rstd[piece]
            g = d[piece].astype(np.float64)
            dgamma += (g * xhat).sum(axis=0)
            g *= self.gamma
            g -= xhat * (np.vecdot(g, xhat)[:, None] / self.dim)
            g *= self.rstd[piece]
            dx[piece] = g
        self.dgamma = dgamma.astype(self.gamma.dtype)
        return dx.reshape(dout.shape)
