# outcome: accepted
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.work = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(self.work)
        c = x - x.mean(axis=-1, keepdims=True)
        self.rstd = 1 / np.sqrt(np.mean(c * c, axis=-1, keepdims=True) + self.work(self.eps))
        self.xhat = c * self.rstd
        y = self.xhat * self.gamma.astype(self.work) + self.beta.astype(self.work)
        return y.astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.work)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = (d * self.xhat).sum(axis=rows).astype(self.gamma.dtype)
        self.dbeta = d.sum(axis=rows).astype(self.beta.dtype)
        g = d * self.gamma.astype(self.work)
        a = g.mean(axis=-1, keepdims=True)
        b = (g * self.xhat).mean(axis=-1, keepdims=True)
        return (self.rstd * (g - a - self.xhat * b)).astype(self.dtype)
