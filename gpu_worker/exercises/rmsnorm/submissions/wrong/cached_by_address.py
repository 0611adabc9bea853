# outcome: wrong_answer
# diagnosis: any
# catalogue: 1
# An old address with new content gets an old answer.
import numpy as np

SEEN = {}


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        key = (x.ctypes.data, x.shape, x.dtype.str)
        if key in SEEN:
            self.dtype, self.rstd, self.xhat, y = SEEN[key]
            return y.copy()
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        y = (self.xhat * self.gamma).astype(self.dtype)
        SEEN[key] = self.dtype, self.rstd, self.xhat, y
        return y.copy()

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
