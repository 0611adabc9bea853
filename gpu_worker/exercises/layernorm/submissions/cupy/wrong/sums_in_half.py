# outcome: wrong_answer
# diagnosis: any
# catalogue: 31
import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// One thread for each row.
template <typename T, typename A>
__global__ void forward(
    const T* x, const T* gamma, const T* beta, T* y, A* mean, A* rstd, long long rows, int dim,
    A eps) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * dim;
    y += row * dim;
    T sum = 0, square = 0;
    for (int j = 0; j < dim; j++) sum = sum + x[j];
    const A m = (A)sum / dim;
    for (int j = 0; j < dim; j++) square = square + (T)(((A)x[j] - m) * ((A)x[j] - m));
    const A r = (A)1 / sqrt((A)square / dim + eps);
    mean[row] = m;
    rstd[row] = r;
    for (int j = 0; j < dim; j++) y[j] = (T)(((A)x[j] - m) * r * (A)gamma[j] + (A)beta[j]);
}

template <typename T, typename A>
__global__ void backward(
    const T* x, const T* dout, const T* gamma, const A* mean, const A* rstd, T* dx, A* terms,
    long long rows, int dim) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * dim;
    dout += row * dim;
    dx += row * dim;
    terms += row * dim;
    const A m = mean[row], r = rstd[row];
    A sum = 0, along = 0;
    for (int j = 0; j < dim; j++) {
        const A g = (A)dout[j] * (A)gamma[j];
        sum += g;
        along += g * ((A)x[j] - m) * r;
    }
    sum /= dim;
    along /= dim;
    for (int j = 0; j < dim; j++) {
        const A xhat = ((A)x[j] - m) * r;
        dx[j] = (T)(((A)dout[j] * (A)gamma[j] - sum - xhat * along) * r);
        terms[j] = (A)dout[j] * xhat;
    }
}
"""
TYPES = {
    "float16": ("__half, float", np.float32),
    "bfloat16": ("__nv_bfloat16, float", np.float32),
    "float32": ("float, float", np.float32),
    "float64": ("double, double", np.float64),
}
MODULE = cp.RawModule(
    code=SOURCE,
    name_expressions=[f"{k}<{t}>" for t, _ in TYPES.values() for k in ("forward", "backward")],
)


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def launch(self, name, *args):
        types, _ = TYPES[self.x.dtype.name]
        kernel = MODULE.get_function(f"{name}<{types}>")
        kernel((-(-self.rows // 32),), (32,), args)

    def forward(self, x):
        self.x = cp.ascontiguousarray(x)
        self.rows = x.size // self.dim
        work = TYPES[x.dtype.name][1]
        y = cp.empty(x.shape, x.dtype)
        self.mean, self.rstd = cp.empty(self.rows, work), cp.empty(self.rows, work)
        if self.rows:
            gamma, beta = self.gamma.astype(x.dtype), self.beta.astype(x.dtype)
            sizes = np.int64(self.rows), np.int32(self.dim)
            kept = self.mean, self.rstd
            self.launch("forward", self.x, gamma, beta, y, *kept, *sizes, work(self.eps))
        return y

    def backward(self, dout):
        d = cp.ascontiguousarray(dout)
        dx = cp.empty(d.shape, d.dtype)
        terms = cp.empty((self.rows, self.dim), self.rstd.dtype)
        if self.rows:
            gamma = self.gamma.astype(d.dtype)
            sizes = np.int64(self.rows), np.int32(self.dim)
            kept = self.mean, self.rstd
            self.launch("backward", self.x, d, gamma, *kept, dx, terms, *sizes)
        self.dgamma = cp.sum(terms, axis=0).astype(self.gamma.dtype)
        wide = d.reshape(self.rows, self.dim).astype(self.rstd.dtype)
        self.dbeta = cp.sum(wide, axis=0).astype(self.beta.dtype)
        return dx
