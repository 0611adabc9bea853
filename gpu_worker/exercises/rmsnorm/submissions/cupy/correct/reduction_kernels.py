# outcome: accepted
import cupy as cp

reciprocal_rms = {
    work: cp.ReductionKernel(
        f"T x, {work} dim, {work} eps", f"{work} rstd",
        f"({c})x * ({c})x", "a + b", f"rstd = 1 / sqrt(a / dim + eps)", "0",
        "reciprocal_rms",
    )
    for work, c in (("float32", "float"), ("float64", "double"))
}
projection = {
    work: cp.ReductionKernel(
        f"T dout, T gamma, T x, {work} rstd, {work} dim", f"{work} mean",
        f"({c})dout * ({c})gamma * ({c})x * rstd", "a + b", "mean = a / dim", "0",
        "projection",
    )
    for work, c in (("float32", "float"), ("float64", "double"))
}
gamma_gradient = {
    work: cp.ReductionKernel(
        f"T dout, T x, {work} rstd", "T dgamma",
        f"({c})dout * ({c})x * rstd", "a + b", "dgamma = a", "0",
        "gamma_gradient", reduce_type=c,
    )
    for work, c in (("float32", "float"), ("float64", "double"))
}


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        self.work = "float64" if x.dtype == cp.float64 else "float32"
        self.x = x.copy()
        self.rstd = reciprocal_rms[self.work](x, self.dim, self.eps, axis=-1, keepdims=True)
        wide = x.astype(self.work) * self.rstd * self.gamma.astype(self.work)
        return wide.astype(x.dtype)

    def backward(self, dout):
        gamma = self.gamma.astype(dout.dtype)
        rows = tuple(range(dout.ndim - 1))
        made = gamma_gradient[self.work](dout, self.x, self.rstd, axis=rows)
        self.dgamma = made.astype(self.gamma.dtype)
        mean = projection[self.work](
            dout, gamma, self.x, self.rstd, self.dim, axis=-1, keepdims=True
        )
        d = dout.astype(self.work) * gamma.astype(self.work)
        xhat = self.x.astype(self.work) * self.rstd
        return ((d - xhat * mean) * self.rstd).astype(dout.dtype)
