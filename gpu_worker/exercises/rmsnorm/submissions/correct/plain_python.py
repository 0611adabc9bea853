# outcome: accepted
# No vectorisation at all: numbers, lists and loops.
import math

import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = np.ones(dim)

    def forward(self, x):
        gamma = self.gamma.tolist()
        self.cache, out = [], []
        for row in x.reshape(-1, self.dim).tolist():
            rms = math.sqrt(sum(v * v for v in row) / self.dim + self.eps)
            xhat = [v / rms for v in row]
            self.cache.append((xhat, rms))
            out.append([h * g for h, g in zip(xhat, gamma)])
        return np.array(out, dtype=x.dtype).reshape(x.shape)

    def backward(self, dout):
        gamma = self.gamma.tolist()
        dgamma, out = [0.0] * self.dim, []
        for row, (xhat, rms) in zip(dout.reshape(-1, self.dim).tolist(), self.cache):
            for j in range(self.dim):
                dgamma[j] += row[j] * xhat[j]
            mean = sum(d * g * h for d, g, h in zip(row, gamma, xhat)) / self.dim
            out.append([(d * g - h * mean) / rms for d, g, h in zip(row, gamma, xhat)])
        self.dgamma = np.array(dgamma, dtype=self.gamma.dtype)
        return np.array(out, dtype=dout.dtype).reshape(dout.shape)
