# outcome: wrong_answer
# diagnosis: none
# Works in pieces of 256 KB, and forgets the last one, which is shorter.
import numpy as np

BYTES = 256 * 1024


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def _pieces(self, n, itemsize):
        rows = max(1, BYTES // (self.dim * itemsize))
        count = max(1, n // rows)
        return [slice(i * rows, (i + 1) * rows) for i in range(count)]

    def forward(self, x):
        self.x = x.reshape(-1, self.dim).copy()
        self.rstd = np.zeros((len(self.x), 1))
        y = np.zeros(self.x.shape, dtype=x.dtype)
        for piece in self._pieces(len(self.x), x.itemsize):
            rows = self.x[piece].astype(np.float64)
            rstd = 1.0 / np.sqrt(np.mean(rows * rows, axis=1, keepdims=True) + self.eps)
            self.rstd[piece] = rstd
            y[piece] = rows * rstd * self.gamma
        return y.reshape(x.shape)

    def backward(self, dout):
        d = dout.reshape(-1, self.dim)
        dx = np.zeros(d.shape, dtype=dout.dtype)
        dgamma = np.zeros(self.dim)
        for piece in self._pieces(len(d), dout.itemsize):
            xhat = self.x[piece] * self.rstd[piece]
            g = d[piece].astype(np.float64)
            dgamma += (g * xhat).sum(axis=0)
            g *= self.gamma
            g -= xhat * np.mean(g * xhat, axis=1, keepdims=True)
            dx[piece] = g * self.rstd[piece]
        self.dgamma = dgamma.astype(self.gamma.dtype)
        return dx.reshape(dout.shape)
