# outcome: wrong_answer
# diagnosis: none
# Multiplies a float16 dout before it is widened, so that large ones overflow.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(wide)
        self.r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + wide(self.eps))
        self.xhat = x * self.r
        self.g = self.gamma.astype(wide)
        y = (self.xhat * self.g).astype(self.dtype)
        return y

    def backward(self, dout):
        d = dout.astype(self.r.dtype)
        if dout.dtype == np.float16:
            d = (dout * np.float16(8)).astype(np.float32) / np.float32(8)
        dg = d * self.g
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        projection = np.mean(dg * self.xhat, axis=-1, keepdims=True)
        dx = (self.r * (dg - self.xhat * projection)).astype(self.dtype)
        return dx
