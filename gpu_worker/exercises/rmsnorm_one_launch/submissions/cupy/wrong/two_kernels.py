# outcome: contract_error
import cupy as cp

reciprocal_rms = cp.ReductionKernel(
    "float32 x, float32 dim, float32 eps",
    "float32 rstd",
    "x * x",  # for each element
    "a + b",  # how two of them are joined
    "rstd = rsqrt(a / dim + eps)",  # once for each row
    "0",
    "reciprocal_rms",
)
scale = cp.ElementwiseKernel(
    "float32 x, float32 rstd, float32 gamma", "float32 y", "y = x * rstd * gamma", "scale"
)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        rstd = reciprocal_rms(x, self.dim, self.eps, axis=-1, keepdims=True)
        return scale(x, rstd, self.gamma)
