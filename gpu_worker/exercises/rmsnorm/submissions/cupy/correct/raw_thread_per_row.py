# outcome: accepted
import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// One thread for each row.
template <typename T, typename A>
__global__ void forward(
    const T* x, const T* gamma, T* y, A* rstd, long long rows, int dim, A eps) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * dim;
    y += row * dim;
    A square = 0;
    for (int j = 0; j < dim; j++) square += (A)x[j] * (A)x[j];
    const A r = (A)1 / sqrt(square / dim + eps);
    rstd[row] = r;
    for (int j = 0; j < dim; j++) y[j] = (T)((A)x[j] * r * (A)gamma[j]);
}

template <typename T, typename A>
__global__ void backward(
    const T* x, const T* dout, const T* gamma, const A* rstd, T* dx, A* terms, long long rows,
    int dim) {
    const long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += row * dim;
    dout += row * dim;
    dx += row * dim;
    terms += row * dim;
    const A r = rstd[row];
    A mean = 0;
    for (int j = 0; j < dim; j++) mean += (A)dout[j] * (A)gamma[j] * (A)x[j] * r;
    mean /= dim;
    for (int j = 0; j < dim; j++) {
        const A xhat = (A)x[j] * r;
        dx[j] = (T)(((A)dout[j] * (A)gamma[j] - xhat * mean) * r);
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


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def launch(self, name, *args):
        types, _ = TYPES[self.x.dtype.name]
        kernel = MODULE.get_function(f"{name}<{types}>")
        kernel((-(-self.rows // 32),), (32,), args)

    def forward(self, x):
        self.x = cp.ascontiguousarray(x)
        self.rows = x.size // self.dim
        work = TYPES[x.dtype.name][1]
        y = cp.empty(x.shape, x.dtype)
        self.rstd = cp.empty(self.rows, work)
        if self.rows:
            gamma = self.gamma.astype(x.dtype)
            rows, dim = np.int64(self.rows), np.int32(self.dim)
            self.launch("forward", self.x, gamma, y, self.rstd, rows, dim, work(self.eps))
        return y

    def backward(self, dout):
        d = cp.ascontiguousarray(dout)
        dx = cp.empty(d.shape, d.dtype)
        terms = cp.empty((self.rows, self.dim), self.rstd.dtype)
        if self.rows:
            gamma = self.gamma.astype(d.dtype)
            rows, dim = np.int64(self.rows), np.int32(self.dim)
            self.launch("backward", self.x, d, gamma, self.rstd, dx, terms, rows, dim)
        self.dgamma = cp.sum(terms, axis=0).astype(self.gamma.dtype)
        return dx
