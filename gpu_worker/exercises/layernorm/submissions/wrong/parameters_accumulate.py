# outcome: wrong_answer
# mistake: dgamma-accumulates
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)
        self.dgamma = 0
        self.dbeta = 0

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        centred = wide - np.mean(wide, axis=-1, keepdims=True)
        self.rstd = 1 / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + self.eps)
        self.xhat = centred * self.rstd
        return (self.xhat * self.gamma + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = self.dgamma + np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = self.dbeta + np.sum(d, axis=rows).astype(self.beta.dtype)
        weighted = d * self.gamma
        dx = weighted - np.mean(weighted, axis=-1, keepdims=True)
        dx -= self.xhat * np.mean(weighted * self.xhat, axis=-1, keepdims=True)
        return (dx * self.rstd).astype(self.dtype)
