# outcome: accepted
# catalogue: N27
# The chapter's formula with RMS cubed, in float64.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim)

    def forward(self, x):
        self.x = x
        wide = x.astype(float)
        self.rms = np.sqrt(np.mean(wide**2, axis=-1, keepdims=True) + self.eps)
        return (wide / self.rms * self.gamma).astype(x.dtype)

    def backward(self, dout):
        x, d, gamma = self.x.astype(float), dout.astype(float), self.gamma.astype(float)
        D = x.shape[-1]
        self.dgamma = (d * x / self.rms).reshape(-1, D).sum(axis=0).astype(self.gamma.dtype)
        total = np.sum(d * gamma * x, axis=-1, keepdims=True)
        dx = d * gamma / self.rms - x / (D * self.rms**3) * total
        return dx.astype(dout.dtype)
