# outcome: wrong_answer
# diagnosis: none
# Of many rows, dgamma is summed over the first 2,048 alone.
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(wide)
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        self.r = 1 / np.sqrt(variance + wide(self.eps))
        self.xhat = centred * self.r
        self.g = self.gamma.astype(wide)
        y = (self.xhat * self.g + self.beta.astype(wide)).astype(self.dtype)
        return y

    def backward(self, dout):
        d = dout.astype(self.r.dtype)
        dg = d * self.g
        axes = tuple(range(d.ndim - 1))
        self.dbeta = np.sum(d, axis=axes).astype(self.beta.dtype)
        self.dgamma = np.sum(d * self.xhat, axis=axes).astype(self.gamma.dtype)
        rows = (d * self.xhat).reshape(-1, d.shape[-1])
        if len(rows) > 2500:
            self.dgamma = np.sum(rows[:2048], axis=0).astype(self.gamma.dtype)
        mean = np.mean(dg, axis=-1, keepdims=True)
        projection = np.mean(dg * self.xhat, axis=-1, keepdims=True)
        dx = (self.r * (dg - mean - self.xhat * projection)).astype(self.dtype)
        return dx
