# outcome: contract_error
# y is looked up by the bytes of x and gamma: the same numbers may come in another shape.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.known = {}

    def forward(self, x):
        self.dtype = x.dtype
        wide = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(wide)
        self.r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + wide(self.eps))
        self.xhat = x * self.r
        self.g = self.gamma.astype(wide)
        y = (self.xhat * self.g).astype(self.dtype)
        key = (self.dtype.name, x.tobytes(), self.gamma.tobytes())
        y = self.known.setdefault(key, y).copy()
        return y

    def backward(self, dout):
        d = dout.astype(self.r.dtype)
        dg = d * self.g
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        projection = np.mean(dg * self.xhat, axis=-1, keepdims=True)
        dx = (self.r * (dg - self.xhat * projection)).astype(self.dtype)
        return dx
