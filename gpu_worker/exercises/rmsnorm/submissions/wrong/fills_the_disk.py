# outcome: runtime_error
# diagnosis: any
# catalogue: 39
# limits: scratch_megabytes=2
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        with open('large', 'wb') as file:
            for _ in range(64):
                file.write(b'x' * (1 << 20))
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(wide * wide, axis=-1, keepdims=True) + self.eps)
        self.xhat = wide * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        g = d * self.gamma
        dx = (g - self.xhat * np.mean(g * self.xhat, axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
