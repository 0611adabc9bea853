# outcome: wrong_answer
# diagnosis: none
# An empty batch leaves dgamma as the last batch made it.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        w = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(w * w, axis=-1, keepdims=True) + self.eps)
        self.xhat = w * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        if dout.size == 0:
            if not hasattr(self, "dgamma"):
                self.dgamma = np.zeros_like(self.gamma)
            return dout.copy()
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
