# outcome: accepted
# functional: accepted
# catalogue: 30
# device: copies to the host and back: right, and slow
import cupy as cp
import numpy as np


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        self.dtype = x.dtype
        work = np.float64 if x.dtype == np.float64 else np.float32
        self.x = cp.asnumpy(x).astype(work)
        square = np.mean(self.x * self.x, axis=-1, keepdims=True)
        self.rstd = 1 / np.sqrt(square + work(self.eps))
        self.xhat = self.x * self.rstd
        return cp.asarray((self.xhat * cp.asnumpy(self.gamma).astype(work)).astype(self.dtype))

    def backward(self, dout):
        d = cp.asnumpy(dout).astype(self.x.dtype)
        gamma = cp.asnumpy(self.gamma)
        dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1)))
        self.dgamma = cp.asarray(dgamma.astype(gamma.dtype))
        g = d * gamma.astype(d.dtype)
        mean = np.mean(g * self.xhat, axis=-1, keepdims=True)
        return cp.asarray(((g - self.xhat * mean) * self.rstd).astype(self.dtype))
