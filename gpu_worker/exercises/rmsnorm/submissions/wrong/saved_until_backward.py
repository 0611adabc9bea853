# outcome: wrong_answer or runtime_error
# diagnosis: none
# What the first forward kept is not replaced until backward was called.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.done, self.shape = True, None
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        w = x.astype(np.float64)
        rstd = 1.0 / np.sqrt(np.mean(w * w, axis=-1, keepdims=True) + self.eps)
        xhat = w * rstd
        if self.done or self.shape != x.shape:
            self.rstd, self.xhat, self.shape, self.done = rstd, xhat, x.shape, False
        return (xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        self.done = True
        return dx.astype(self.dtype)
