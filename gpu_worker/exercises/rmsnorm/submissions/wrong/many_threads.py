# outcome: runtime_error or flagged
# diagnosis: any
# catalogue: 16
# One thread is allowed.
from concurrent.futures import ThreadPoolExecutor

import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        with ThreadPoolExecutor(8) as pool:
            rows = list(pool.map(lambda row: row * self.gamma, self.xhat.reshape(-1, x.shape[-1])))
        return np.array(rows, dtype=self.dtype).reshape(x.shape)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
