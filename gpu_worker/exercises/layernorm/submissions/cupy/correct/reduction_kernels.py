# outcome: accepted
import cupy as cp

TYPES = (("float32", "float"), ("float64", "double"))
row_mean = {
    work: cp.ReductionKernel(
        f"T x, {work} dim", f"{work} mean",
        f"({c})x", "a + b", "mean = a / dim", "0", "row_mean", reduce_type=c,
    )
    for work, c in TYPES
}
reciprocal_deviation = {
    work: cp.ReductionKernel(
        f"T x, {work} mean, {work} dim, {work} eps", f"{work} rstd",
        f"(({c})x - mean) * (({c})x - mean)", "a + b", "rstd = 1 / sqrt(a / dim + eps)", "0",
        "reciprocal_deviation", reduce_type=c,
    )
    for work, c in TYPES
}
gamma_gradient = {
    work: cp.ReductionKernel(
        f"T dout, T x, {work} mean, {work} rstd", "T dgamma",
        f"({c})dout * (({c})x - mean) * rstd", "a + b", "dgamma = a", "0",
        "gamma_gradient", reduce_type=c,
    )
    for work, c in TYPES
}


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x):
        self.work = "float64" if x.dtype == cp.float64 else "float32"
        self.x = x.copy()
        along = {"axis": -1, "keepdims": True}
        self.mean = row_mean[self.work](x, self.dim, **along)
        self.rstd = reciprocal_deviation[self.work](x, self.mean, self.dim, self.eps, **along)
        gamma, beta = self.gamma.astype(self.work), self.beta.astype(self.work)
        xhat = (x.astype(self.work) - self.mean) * self.rstd
        return (xhat * gamma + beta).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(self.work)
        rows = tuple(range(dout.ndim - 1))
        made = gamma_gradient[self.work](dout, self.x, self.mean, self.rstd, axis=rows)
        self.dgamma = made.astype(self.gamma.dtype)
        self.dbeta = cp.sum(d, axis=rows).astype(self.beta.dtype)
        xhat = (self.x.astype(self.work) - self.mean) * self.rstd
        g = d * self.gamma.astype(self.work)
        mean_g = row_mean[self.work](g, self.dim, axis=-1, keepdims=True)
        mean_along = row_mean[self.work](g * xhat, self.dim, axis=-1, keepdims=True)
        return ((g - mean_g - xhat * mean_along) * self.rstd).astype(dout.dtype)
