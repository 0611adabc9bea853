# outcome: time_limit
# functional: runtime_error
# catalogue: 38
# device: never ends
import cupy as cp


KERNEL = cp.RawKernel(
    'extern "C" __global__ void endless(volatile int* y) { while (y[0] == 0) {} }', "endless"
)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        KERNEL((1,), (1,), (cp.zeros(1, cp.int32),))
        return self.normalize(x)

    def normalize(self, x):
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.astype(work)
        self.rstd = 1 / cp.sqrt(cp.mean(self.x * self.x, axis=-1, keepdims=True) + work(self.eps))
        self.xhat = self.x * self.rstd
        return (self.xhat * self.gamma.astype(work)).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.x.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma.astype(d.dtype)
        mean = cp.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
