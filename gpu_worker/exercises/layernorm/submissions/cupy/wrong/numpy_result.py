# outcome: contract_error
# catalogue: 12
import cupy as cp
import numpy as np


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x):
        self.dtype = x.dtype
        x = x.get().astype(np.float64)
        centred = x - np.mean(x, axis=-1, keepdims=True)
        self.rstd = 1 / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + self.eps)
        self.xhat = centred * self.rstd
        gamma, beta = (cp.asnumpy(p).astype(np.float64) for p in (self.gamma, self.beta))
        return (self.xhat * gamma + beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.get().astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.asarray(np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype))
        self.dbeta = cp.asarray(np.sum(d, axis=rows).astype(self.beta.dtype))
        g = d * self.gamma.get().astype(np.float64)
        along = np.mean(g * self.xhat, axis=-1, keepdims=True)
        dx = (g - np.mean(g, axis=-1, keepdims=True) - self.xhat * along) * self.rstd
        return cp.array(dx.astype(self.dtype))
