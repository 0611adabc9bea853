# outcome: wrong_answer
# diagnosis: any
# catalogue: 31
import cupy as cp


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x):
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        centred = x - cp.mean(x.astype(work), axis=-1, keepdims=True).astype(x.dtype)
        variance = cp.mean((centred * centred).astype(work), axis=-1, keepdims=True)
        centred = centred.astype(work)
        self.rstd = 1 / cp.sqrt(variance + work(self.eps))
        self.xhat = centred * self.rstd
        return (self.xhat * self.gamma.astype(work) + self.beta.astype(work)).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.xhat.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = cp.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma.astype(d.dtype)
        mean = cp.mean(g, axis=-1, keepdims=True)
        along = cp.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - mean - self.xhat * along) * self.rstd).astype(self.dtype)
