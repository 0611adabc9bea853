# outcome: wrong_answer or runtime_error
# functional: accepted
# catalogue: N36
# device: counts elements by an int, which 2**31 of them do not fit into
import cupy as cp
import numpy as np


SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

template <typename T, typename A>
__global__ void forward(const T* x, const T* gamma, T* y, int rows, int dim, A eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int start = row * dim;
    A square = 0;
    for (int j = 0; j < dim; j++) square += (A)x[start + j] * (A)x[start + j];
    const A rstd = (A)1 / sqrt(square / dim + eps);
    for (int j = 0; j < dim; j++) y[start + j] = (T)((A)x[start + j] * rstd * (A)gamma[j]);
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
    options=("-std=c++17",),
    name_expressions=[f"forward<{types}>" for types, _ in TYPES.values()],
)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        self.given = cp.ascontiguousarray(x)
        dim = x.shape[-1]
        rows = x.size // dim
        types, work = TYPES[x.dtype.name]
        y = cp.empty(x.shape, x.dtype)
        if rows:
            gamma = self.gamma.astype(x.dtype)
            args = (self.given, gamma, y, np.int32(rows), np.int32(dim), work(self.eps))
            MODULE.get_function(f"forward<{types}>")((-(-rows // 32),), (32,), args)
        return y

    def backward(self, dout):
        self.normalize(self.given)
        return self.gradient(dout)

    def normalize(self, x):
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.astype(work)
        self.rstd = 1 / cp.sqrt(cp.mean(self.x * self.x, axis=-1, keepdims=True) + work(self.eps))
        self.xhat = self.x * self.rstd
        return (self.xhat * self.gamma.astype(work)).astype(self.dtype)

    def gradient(self, dout):
        d = dout.astype(self.x.dtype)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = cp.sum(d * self.xhat, axis=rows).astype(self.gamma.dtype)
        g = d * self.gamma.astype(d.dtype)
        mean = cp.mean(g * self.xhat, axis=-1, keepdims=True)
        return ((g - self.xhat * mean) * self.rstd).astype(self.dtype)
