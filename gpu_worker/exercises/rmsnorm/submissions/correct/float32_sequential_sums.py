# outcome: accepted
# Adds one column after the other in float32, the least accurate order there is.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    @staticmethod
    def _sum(a):
        return np.cumsum(a, axis=-1)[..., -1:]

    def forward(self, x):
        self.dtype = x.dtype
        work = np.float64 if x.dtype == np.float64 else np.float32
        self.x = x.astype(work)
        dim = work(x.shape[-1])
        self.rms = np.sqrt(self._sum(self.x * self.x) / dim + work(self.eps))
        self.xhat = self.x / self.rms
        return (self.xhat * self.gamma.astype(work)).astype(self.dtype)

    def backward(self, dout):
        work = self.x.dtype
        d = dout.astype(work)
        self.dgamma = (d * self.xhat).sum(axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma.astype(work)
        mean = self._sum(g * self.xhat) / work.type(d.shape[-1])
        return ((g - self.xhat * mean) / self.rms).astype(self.dtype)
