# outcome: accepted
# catalogue: 30
import cupy as cp
import numpy as np


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = x.get().astype(np.float64)
        self.rstd = 1 / np.sqrt(np.mean(self.x**2, axis=-1, keepdims=True) + self.eps)
        y = self.x * self.rstd * cp.asnumpy(self.gamma).astype(np.float64)
        return cp.asarray(y.astype(self.dtype))

    def backward(self, dout):
        d = dout.get().astype(np.float64)
        xhat = self.x * self.rstd
        dgamma = np.sum(d * xhat, axis=tuple(range(d.ndim - 1)))
        self.dgamma = cp.asarray(dgamma.astype(self.gamma.dtype))
        g = d * self.gamma.get().astype(np.float64)
        dx = (g - xhat * np.mean(g * xhat, axis=-1, keepdims=True)) * self.rstd
        return cp.array(dx.astype(self.dtype))
