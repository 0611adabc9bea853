# outcome: wrong_answer
# diagnosis: none
# catalogue: N2
# D * rms**3 is computed in float16, where it becomes infinite and the second term vanishes.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        rms = (1 / self.rstd).astype(self.dtype)
        with np.errstate(over='ignore'):
            cube = (self.dtype.type(d.shape[-1]) * rms**3).astype(self.dtype)
        x = self.xhat / self.rstd
        dx = g * self.rstd - x * (np.sum(g * x, axis=-1, keepdims=True) / cube.astype(np.float64))
        return dx.astype(self.dtype)
