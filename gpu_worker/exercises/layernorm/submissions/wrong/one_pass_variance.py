# outcome: wrong_answer
# mistake: one-pass-variance
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        work = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(work)
        mean = np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(x * x, axis=-1, keepdims=True) - mean**2
        self.rstd = 1.0 / np.sqrt(variance + work(self.eps))
        self.xhat = (x - mean) * self.rstd
        return (self.xhat * self.gamma.astype(work) + self.beta.astype(work)).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = np.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma.astype(d.dtype)
        mean_g = np.mean(g, axis=-1, keepdims=True)
        mean_gx = np.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - mean_g - self.xhat * mean_gx) * self.rstd).astype(self.dtype)
