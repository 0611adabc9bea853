# outcome: wrong_answer
# diagnosis: none
# Two Newton steps leave about five digits, all of them too small.
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.centred = wide - np.mean(wide, axis=-1, keepdims=True)
        variance = np.mean(self.centred**2, axis=-1, keepdims=True)
        square = variance + self.eps
        bits = 0x5FE6EB50C7B537A9 - (np.ascontiguousarray(square).view(np.int64) >> 1)
        self.rstd = bits.view(np.float64)
        for _ in range(2):
            self.rstd = self.rstd * (1.5 - 0.5 * square * self.rstd * self.rstd)
        self.xhat = self.centred * self.rstd
        return (self.xhat * self.gamma + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = np.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma
        mean = np.mean(g, axis=-1, keepdims=True)
        projection = np.mean(g * self.xhat, axis=-1, keepdims=True)
        dx = (g - mean - self.xhat * projection) * self.rstd
        return dx.astype(self.dtype)
