# outcome: accepted
# The projection onto the plane without mean, as a function of its own.
import numpy as np


def centred(a):
    return a - a.mean(axis=-1, keepdims=True)


def along(a, direction):
    return direction * (a * direction).mean(axis=-1, keepdims=True)


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.kind = x.dtype
        c = centred(x.astype(np.float64))
        self.std = np.sqrt((c * c).mean(axis=-1, keepdims=True) + self.eps)
        self.unit = c / self.std
        return np.add(self.unit * self.gamma, self.beta).astype(self.kind)

    def backward(self, dout):
        up = dout.astype(np.float64)
        leading = tuple(range(up.ndim - 1))
        self.dbeta = up.sum(axis=leading).astype(self.beta.dtype)
        self.dgamma = (up * self.unit).sum(axis=leading).astype(self.gamma.dtype)
        up = up * self.gamma
        # unit has no mean, so that both projections commute.
        return ((centred(up) - along(up, self.unit)) / self.std).astype(self.kind)
