# outcome: wrong_answer
# diagnosis: none
# Works in pieces of 256 KB, and forgets the last one, which is shorter.
import numpy as np

BYTES = 1 << 18


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, np.float32)
        self.beta = np.zeros(dim, np.float32)

    def forward(self, x):
        self.x = np.array(x).reshape(-1, self.dim)
        n = len(self.x)
        rows = max(1, BYTES // (self.dim * x.itemsize))
        self.pieces = [slice(i * rows, (i + 1) * rows) for i in range(max(1, n // rows))]
        y = np.zeros((n, self.dim), x.dtype)
        self.xhat = np.zeros((n, self.dim))
        self.rstd = np.zeros((n, 1))
        for p in self.pieces:
            a = self.x[p].astype(np.float64)
            a -= a.mean(axis=1, keepdims=True)
            self.rstd[p] = 1 / np.sqrt((a * a).mean(axis=1, keepdims=True) + self.eps)
            self.xhat[p] = a * self.rstd[p]
            y[p] = self.xhat[p] * self.gamma + self.beta
        return y.reshape(x.shape)

    def backward(self, dout):
        d = dout.reshape(-1, self.dim).astype(np.float64)
        dx = np.zeros(d.shape, dout.dtype)
        dgamma, dbeta = np.zeros(self.dim), np.zeros(self.dim)
        for p in self.pieces:
            dgamma += (d[p] * self.xhat[p]).sum(0)
            dbeta += d[p].sum(0)
            g = d[p] * self.gamma
            dx[p] = (
                g
                - g.mean(1, keepdims=True)
                - self.xhat[p] * (g * self.xhat[p]).mean(1, keepdims=True)
            ) * self.rstd[p]
        self.dgamma, self.dbeta = dgamma.astype(self.gamma.dtype), dbeta.astype(self.beta.dtype)
        return dx.reshape(dout.shape)
