# outcome: wrong_answer
# mistake: one-pass-variance
# gamma and beta as NumPy makes them by itself, in float64
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)
        self.dgamma = None
        self.dbeta = None

    def forward(self, x):
        w = np.float64 if x.dtype == np.float64 else np.float32
        x_ = x.astype(w)
        mu = x_.mean(-1, keepdims=True)
        c = x_ - mu
        var = (x_ * x_).mean(-1, keepdims=True) - mu * mu
        self.r = 1 / np.sqrt(var + w(self.eps))
        self.xhat = c * self.r
        return (self.xhat * self.gamma.astype(w) + self.beta.astype(w)).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        axes = tuple(range(d.ndim - 1))
        self.dgamma = (d * self.xhat).sum(axes).astype(self.gamma.dtype)
        self.dbeta = d.sum(axes).astype(self.beta.dtype)
        g = d * self.gamma.astype(d.dtype)
        a = g.mean(-1, keepdims=True)
        b = (g * self.xhat).mean(-1, keepdims=True)
        return ((g - a - self.xhat * b) * self.r).astype(dout.dtype)
