# outcome: accepted
# Lets NumPy compute the variance, and writes dx with sums, as many articles do.
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)

    def forward(self, x):
        self.dtype = x.dtype
        self.work = np.float64 if x.dtype == np.float64 else np.float32
        x = x.astype(self.work)
        mean = np.mean(x, axis=-1, keepdims=True)
        self.std = np.sqrt(np.var(x, axis=-1, keepdims=True) + self.work(self.eps))
        self.xhat = (x - mean) / self.std
        return (self.gamma * self.xhat.astype(np.float64) + self.beta).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.work)
        n = d.shape[-1]
        flat = d.reshape(-1, n)
        self.dgamma = np.sum(flat * self.xhat.reshape(-1, n), axis=0).astype(self.gamma.dtype)
        self.dbeta = np.sum(flat, axis=0).astype(self.beta.dtype)
        g = d * self.gamma.astype(self.work)
        sums = np.sum(g, -1, keepdims=True) + self.xhat * np.sum(g * self.xhat, -1, keepdims=True)
        return ((n * g - sums) / (n * self.std)).astype(self.dtype)
