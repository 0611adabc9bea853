# outcome: contract_error
# diagnosis: none
# By position it works, by name it does not.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, epsilon=1e-6):
        self.eps = epsilon
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma
        mean = np.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
