# outcome: accepted
import cupy as cp

scale = cp.ElementwiseKernel(
    "T x, A rstd, T gamma", "T y",
    "y = (A)x * rstd * (A)gamma",
    "rms_scale",
)
input_gradient = cp.ElementwiseKernel(
    "T dout, T x, A rstd, T gamma, A mean", "T dx",
    """
    const A xhat = (A)x * rstd;
    dx = ((A)dout * (A)gamma - xhat * mean) * rstd;
    """,
    "rms_input_gradient",
)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.copy()
        wide = x.astype(work)
        self.rstd = 1 / cp.sqrt(cp.mean(wide * wide, axis=-1, keepdims=True) + work(self.eps))
        return scale(self.x, self.rstd, self.gamma.astype(x.dtype))

    def backward(self, dout):
        work = self.rstd.dtype
        xhat = self.x.astype(work) * self.rstd
        d = dout.astype(work)
        self.dgamma = cp.sum(d * xhat, axis=tuple(range(d.ndim - 1))).astype(self.gamma.dtype)
        mean = cp.mean(d * self.gamma.astype(work) * xhat, axis=-1, keepdims=True)
        return input_gradient(dout, self.x, self.rstd, self.gamma.astype(dout.dtype), mean)
