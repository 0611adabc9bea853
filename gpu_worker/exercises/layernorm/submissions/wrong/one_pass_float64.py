# outcome: wrong_answer
# mistake: one-pass-variance
# The variance is mean(x**2) - mean(x)**2, in float64.
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        w = x.astype(np.float64)
        mean = w.mean(axis=-1, keepdims=True)
        var = (w * w).mean(axis=-1, keepdims=True) - mean * mean
        self.rstd = 1.0 / np.sqrt(var + self.eps)
        self.xhat = (w - mean) * self.rstd
        return (self.xhat * self.gamma + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        axes = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=axes).astype(self.gamma.dtype)
        self.dbeta = np.sum(d, axis=axes).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = g - g.mean(axis=-1, keepdims=True)
        dx = dx - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)
        return (dx * self.rstd).astype(self.dtype)
