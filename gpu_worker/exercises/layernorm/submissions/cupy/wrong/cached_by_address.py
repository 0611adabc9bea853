# outcome: wrong_answer or runtime_error
# diagnosis: any
# catalogue: 4
import cupy as cp


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    cache = {}

    def forward(self, x):
        key = (x.data.ptr, x.shape, x.dtype.name)
        if key not in self.cache:
            self.cache[key] = self.normalize(x)
        return self.cache[key]

    def normalize(self, x):
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        x = x.astype(work)
        centred = x - cp.mean(x, axis=-1, keepdims=True)
        variance = cp.mean(centred * centred, axis=-1, keepdims=True)
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
