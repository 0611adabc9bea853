# outcome: wrong_answer
# diagnosis: none
# catalogue: N3
# rms**3 does not fit into float32 for rms above 7e12.
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
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma.astype(d.dtype)
        rms, x = 1 / self.rstd, self.xhat / self.rstd
        with np.errstate(all='ignore'):
            dx = g / rms - x * np.mean(g * x, axis=-1, keepdims=True) / rms**3
        return dx.astype(self.dtype)
