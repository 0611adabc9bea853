# outcome: wrong_answer
# mistake: float16-accumulation
# Asks for each mean in float16, where NumPy's own choice adds up in float32.
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)
        self.dgamma = self.dbeta = None

    def forward(self, x):
        w = x.dtype.type
        self.x = x.astype(w) - x.mean(-1, keepdims=True, dtype=w)
        self.r = 1 / np.sqrt((self.x * self.x).mean(-1, keepdims=True, dtype=w) + w(self.eps))
        self.xhat = self.x * self.r
        return (self.xhat * self.gamma.astype(w) + self.beta.astype(w)).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        self.dgamma = (d * self.xhat).reshape(-1, d.shape[-1]).sum(0).astype(self.gamma.dtype)
        self.dbeta = d.reshape(-1, d.shape[-1]).sum(0).astype(self.beta.dtype)
        g = d * self.gamma.astype(self.xhat.dtype)
        m = (g * self.xhat).mean(-1, keepdims=True)
        return ((g - g.mean(-1, keepdims=True) - self.xhat * m) * self.r).astype(dout.dtype)
