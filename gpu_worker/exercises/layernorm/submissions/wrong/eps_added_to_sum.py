# outcome: wrong_answer
# mistake: eps-divided
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        self.x = x.astype(np.float64)
        self.centred = self.x - np.mean(self.x, axis=-1, keepdims=True)
        total = np.sum(self.centred**2, axis=-1, keepdims=True)
        self.std = np.sqrt((total + self.eps) / x.shape[-1])
        self.xhat = self.centred / self.std
        return (self.xhat * self.gamma + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = np.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma
        mean_g = np.mean(g, axis=-1, keepdims=True)
        mean_gx = np.mean(g * self.xhat, axis=-1, keepdims=True)
        dx = (g - mean_g - self.xhat * mean_gx) / self.std
        return dx.astype(self.dtype)
