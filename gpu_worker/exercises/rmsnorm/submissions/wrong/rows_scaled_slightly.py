# outcome: wrong_answer
# diagnosis: none
# A factor, not rounding: the rows are too long by one part in five thousand.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        square = np.mean(wide * wide, axis=-1, keepdims=True) + self.eps
        self.rstd = 1.0002 / np.sqrt(square)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        weighted = d * self.gamma
        projection = np.mean(weighted * self.xhat, axis=-1, keepdims=True)
        dx = (weighted - self.xhat * projection) * self.rstd
        return dx.astype(self.dtype)
