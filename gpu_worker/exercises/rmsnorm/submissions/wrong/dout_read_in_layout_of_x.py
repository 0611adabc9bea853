# outcome: wrong_answer or runtime_error
# diagnosis: none
# dout is read in the order in which x lies in memory.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.order = sorted(range(x.ndim), key=lambda a: -abs(x.strides[a]))
        w = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(w * w, axis=-1, keepdims=True) + self.eps)
        self.xhat = w * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64, order="K")
        if dout.flags.f_contiguous or dout.flags.c_contiguous:
            flat = d.ravel(order="K").reshape([d.shape[a] for a in self.order])
            d = flat.transpose([self.order.index(a) for a in range(d.ndim)])
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
