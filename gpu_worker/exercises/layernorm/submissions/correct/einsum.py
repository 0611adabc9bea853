# outcome: accepted
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.beta = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        self.dtype = x.dtype
        x = x.astype(np.float64)
        c = x - np.einsum("...d->...", x)[..., None] / self.dim
        self.rstd = (np.einsum("...d,...d->...", c, c)[..., None] / self.dim + self.eps) ** -0.5
        self.xhat = c * self.rstd
        return (np.einsum("...d,d->...d", self.xhat, self.gamma) + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        self.dgamma = np.einsum("nd,nd->d", *(a.reshape(-1, self.dim) for a in (d, self.xhat))).astype(self.gamma.dtype)
        self.dbeta = np.einsum("nd->d", d.reshape(-1, self.dim)).astype(self.beta.dtype)
        g = np.einsum("...d,d->...d", d, self.gamma)
        a = np.einsum("...d->...", g)[..., None] / self.dim
        b = np.einsum("...d,...d->...", g, self.xhat)[..., None] / self.dim
        return (self.rstd * (g - a - self.xhat * b)).astype(self.dtype)
