# outcome: wrong_answer
# catalogue: N1
# mistake: float16-accumulation
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim)

    def forward(self, x):
        self.x = x
        self.rms = np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + self.eps).astype(x.dtype)
        self.xhat = x / self.rms
        return (self.xhat * self.gamma).astype(x.dtype)

    def backward(self, dout):
        self.dgamma = np.sum(dout * self.xhat, axis=tuple(range(dout.ndim - 1)))
        weighted = (dout * self.gamma).astype(dout.dtype)
        projection = np.mean(weighted * self.xhat, axis=-1, keepdims=True)
        return ((weighted - self.xhat * projection) / self.rms).astype(dout.dtype)
