# outcome: wrong_answer
# diagnosis: any
# catalogue: N6
# A sum of ones in float16 stops at 2048.
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
        terms = (d * self.xhat).astype(self.dtype).reshape(-1, d.shape[-1])
        self.dgamma = np.zeros(d.shape[-1], self.dtype)
        for row in terms:
            self.dgamma += row
        self.dgamma = self.dgamma.astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
