# outcome: contract_error
# diagnosis: none
# gamma can be read and not set.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self._gamma = np.ones(dim, dtype=np.float32)

    @property
    def gamma(self):
        return self._gamma

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        return (self.xhat * self._gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self._gamma.dtype)
        g = d * self._gamma
        mean = np.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
