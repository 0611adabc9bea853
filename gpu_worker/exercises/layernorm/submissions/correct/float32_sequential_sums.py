# outcome: accepted
# Adds one column after the other in float32, the least accurate order there is.
import numpy as np


def mean(a):
    return np.cumsum(a, axis=-1)[..., -1:] / a.dtype.type(a.shape[-1])


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
        centred = wide - mean(wide)
        self.rstd = 1.0 / np.sqrt(mean(centred * centred) + wide.dtype.type(self.eps))
        self.xhat = centred * self.rstd
        return (self.xhat * self.gamma.astype(wide.dtype) + self.beta.astype(wide.dtype)).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = np.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma.astype(d.dtype)
        projection = mean(g * self.xhat)
        dx = (g - mean(g) - self.xhat * projection) * self.rstd
        return dx.astype(self.dtype)
