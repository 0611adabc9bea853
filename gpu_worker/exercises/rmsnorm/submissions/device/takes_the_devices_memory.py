# outcome: memory_limit
# functional: memory_limit
# catalogue: 36
# device: takes memory until there is none
import cupy as cp


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        self.kept = [cp.zeros(1 << 30, cp.uint8) for _ in range(1 << 12)]
        return x

    def backward(self, dout):
        d = dout.astype(self.x.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma.astype(d.dtype)
        mean = cp.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
