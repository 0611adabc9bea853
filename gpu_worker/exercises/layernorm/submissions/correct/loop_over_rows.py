# outcome: accepted
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)

    def forward(self, x):
        rows = x.reshape(-1, self.dim).astype(np.float64)
        y = np.empty(rows.shape, dtype=x.dtype)
        self.cache = []
        for i, row in enumerate(rows):
            centred = row - row.mean()
            rstd = 1.0 / np.sqrt(centred @ centred / self.dim + self.eps)
            self.cache.append((centred * rstd, rstd))
            y[i] = centred * rstd * self.gamma + self.beta
        return y.reshape(x.shape)

    def backward(self, dout):
        rows = dout.reshape(-1, self.dim).astype(np.float64)
        dx = np.empty(rows.shape, dtype=dout.dtype)
        dgamma, dbeta = np.zeros(self.dim), np.zeros(self.dim)
        for i, (row, (xhat, rstd)) in enumerate(zip(rows, self.cache)):
            dgamma += row * xhat
            dbeta += row
            g = row * self.gamma
            dx[i] = (g - g.mean() - xhat * (g @ xhat) / self.dim) * rstd
        self.dgamma = dgamma.astype(self.gamma.dtype)
        self.dbeta = dbeta.astype(self.beta.dtype)
        return dx.reshape(dout.shape)
