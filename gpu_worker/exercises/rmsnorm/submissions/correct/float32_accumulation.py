# outcome: accepted
# catalogue: N11
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def _wide(self, a):
        return a if a.dtype == np.float64 else a.astype(np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = self._wide(x)
        mean = np.mean(np.square(self.x), axis=-1, keepdims=True)
        self.rstd = np.reciprocal(np.sqrt(mean + self.x.dtype.type(self.eps)))
        return (self.x * self.rstd * self._wide(self.gamma)).astype(self.dtype)

    def backward(self, dout):
        d = self._wide(dout)
        xhat = self.x * self.rstd
        self.dgamma = np.sum(d * xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self._wide(self.gamma)
        dx = g * self.rstd - xhat * self.rstd * np.mean(g * xhat, axis=-1, keepdims=True)
        return dx.astype(self.dtype)
