# outcome: accepted
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim, dtype=np.float32)
        self.dgamma = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        rows = x.reshape(-1, self.dim)
        y = np.empty(rows.shape, dtype=x.dtype)
        self.cache = []
        for i, row in enumerate(rows):
            row = row.astype(np.float64)
            rstd = 1.0 / np.sqrt(row @ row / self.dim + self.eps)
            xhat = row * rstd
            self.cache.append((xhat, rstd))
            y[i] = xhat * self.gamma
        return y.reshape(x.shape)

    def backward(self, dout):
        rows = dout.reshape(-1, self.dim)
        dx = np.empty(rows.shape, dtype=dout.dtype)
        dgamma = np.zeros(self.dim)
        for i, (row, (xhat, rstd)) in enumerate(zip(rows, self.cache)):
            row = row.astype(np.float64)
            dgamma += row * xhat
            g = row * self.gamma
            dx[i] = (g - xhat * (g @ xhat) / self.dim) * rstd
        self.dgamma = dgamma.astype(self.gamma.dtype)
        return dx.reshape(dout.shape)
