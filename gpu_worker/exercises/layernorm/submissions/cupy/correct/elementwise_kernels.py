# outcome: accepted
import cupy as cp

normalize = cp.ElementwiseKernel(
    "T x, A mean, A rstd, T gamma, T beta", "T y",
    "y = ((A)x - mean) * rstd * (A)gamma + (A)beta",
    "layer_normalize",
)
input_gradient = cp.ElementwiseKernel(
    "T dout, T x, A mean, A rstd, T gamma, A mean_g, A mean_along", "T dx",
    """
    const A xhat = ((A)x - mean) * rstd;
    dx = ((A)dout * (A)gamma - mean_g - xhat * mean_along) * rstd;
    """,
    "layer_input_gradient",
)


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x):
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.copy()
        wide = x.astype(work)
        self.mean = cp.mean(wide, axis=-1, keepdims=True)
        variance = cp.mean((wide - self.mean) ** 2, axis=-1, keepdims=True)
        self.rstd = 1 / cp.sqrt(variance + work(self.eps))
        gamma, beta = self.gamma.astype(x.dtype), self.beta.astype(x.dtype)
        return normalize(self.x, self.mean, self.rstd, gamma, beta)

    def backward(self, dout):
        work = self.rstd.dtype
        d = dout.astype(work)
        xhat = (self.x.astype(work) - self.mean) * self.rstd
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * xhat, axis=rows).astype(self.gamma.dtype)
        self.dbeta = cp.sum(d, axis=rows).astype(self.beta.dtype)
        g = d * self.gamma.astype(work)
        means = (cp.mean(value, axis=-1, keepdims=True) for value in (g, g * xhat))
        gamma = self.gamma.astype(dout.dtype)
        return input_gradient(dout, self.x, self.mean, self.rstd, gamma, *means)
