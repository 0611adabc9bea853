# outcome: wrong_answer or contract_error or runtime_error
# diagnosis: none
# D is kept on the class: instances of another D change it.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        RMSNormScratch.dim = dim
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        w = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.sum(w * w, axis=-1, keepdims=True) / self.dim + self.eps)
        self.xhat = w * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.sum(g * self.xhat, axis=-1, keepdims=True) / self.dim) * self.rstd
        return dx.astype(self.dtype)
