# outcome: wrong_answer
# mistake: eps-divided
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = x.astype(np.float64)
        total = np.sum(self.x**2, axis=-1, keepdims=True)
        self.rms = np.sqrt((total + self.eps) / x.shape[-1])
        self.xhat = self.x / self.rms
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        weighted = d * self.gamma
        projection = np.mean(weighted * self.xhat, axis=-1, keepdims=True)
        dx = (weighted - self.xhat * projection) / self.rms
        return dx.astype(self.dtype)
