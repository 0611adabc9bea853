# outcome: wrong_answer
# mistake: gradient-sign
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = x.astype(np.float64)
        square = np.mean(self.x**2, axis=-1, keepdims=True)
        self.rstd = 1.0 / np.sqrt(square + self.eps)
        self.xhat = self.x * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma
        projection = np.mean(g * self.xhat, axis=-1, keepdims=True)
        dx = (self.xhat * projection - g) * self.rstd
        return dx.astype(self.dtype)
