# outcome: wrong_answer
# mistake: gamma-last-in-dx
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = x.astype(np.float64)
        self.rms = np.sqrt(np.mean(self.x**2, axis=-1, keepdims=True) + self.eps)
        self.xhat = self.x / self.rms
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        projection = np.mean(d * self.xhat, axis=-1, keepdims=True)
        dx = (d - self.xhat * projection) / self.rms * self.gamma
        return dx.astype(self.dtype)
