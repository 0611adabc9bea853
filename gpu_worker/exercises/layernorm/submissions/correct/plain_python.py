# outcome: accepted
import math

import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim, self.eps = dim, eps
        self.gamma, self.beta = np.ones(dim), np.zeros(dim)

    def forward(self, x):
        gamma, beta = self.gamma.tolist(), self.beta.tolist()
        self.cache, out = [], []
        for row in x.reshape(-1, self.dim).tolist():
            mean = sum(row) / self.dim
            std = math.sqrt(sum((v - mean) ** 2 for v in row) / self.dim + self.eps)
            xhat = [(v - mean) / std for v in row]
            self.cache.append((xhat, std))
            out.append([h * g + b for h, g, b in zip(xhat, gamma, beta)])
        return np.array(out, dtype=x.dtype).reshape(x.shape)

    def backward(self, dout):
        gamma = self.gamma.tolist()
        dgamma, dbeta, out = [0.0] * self.dim, [0.0] * self.dim, []
        for row, (xhat, std) in zip(dout.reshape(-1, self.dim).tolist(), self.cache):
            g = [d * w for d, w in zip(row, gamma)]
            mean_g = sum(g) / self.dim
            mean_gx = sum(a * h for a, h in zip(g, xhat)) / self.dim
            for j in range(self.dim):
                dgamma[j] += row[j] * xhat[j]
                dbeta[j] += row[j]
            out.append([(a - mean_g - h * mean_gx) / std for a, h in zip(g, xhat)])
        self.dgamma = np.array(dgamma, dtype=self.gamma.dtype)
        self.dbeta = np.array(dbeta, dtype=self.beta.dtype)
        return np.array(out, dtype=dout.dtype).reshape(dout.shape)
