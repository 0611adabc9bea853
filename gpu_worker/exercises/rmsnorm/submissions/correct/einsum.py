# outcome: accepted
import numpy as np


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        x = x.astype(np.float64)
        square = np.einsum("...d,...d->...", x, x) / self.dim
        self.rstd = (1.0 / np.sqrt(square + self.eps))[..., None]
        self.xhat = x * self.rstd
        return np.einsum("...d,d->...d", self.xhat, self.gamma).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.einsum("nd,nd->d", *(a.reshape(-1, self.dim) for a in (d, self.xhat))).astype(self.gamma.dtype)
        g = d * self.gamma
        projection = np.einsum("...d,...d->...", g, self.xhat)[..., None] / self.dim
        return ((g - self.xhat * projection) * self.rstd).astype(self.dtype)
