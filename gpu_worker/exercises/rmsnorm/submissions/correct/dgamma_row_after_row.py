# outcome: accepted
# catalogue: N7 N11
# float32 throughout, dgamma summed row after row.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
        self.eps_ = wide.dtype.type(self.eps)
        self.rstd = 1 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps_)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma.astype(wide.dtype)).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        total = np.zeros(d.shape[-1], d.dtype)
        for row in (d * self.xhat).reshape(-1, d.shape[-1]):
            total += row
        self.dgamma = total.astype(self.gamma.dtype)
        g = d * self.gamma.astype(d.dtype)
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
