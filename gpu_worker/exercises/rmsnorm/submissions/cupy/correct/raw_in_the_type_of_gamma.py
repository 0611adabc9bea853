# outcome: accepted
# One type for x, gamma and y: a row is rounded to it before gamma scales it.
import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T>
__global__ void forward(const T* x, const T* gamma, T* y, const int dim, const float eps) {
    __shared__ float partial[4], rstd;
    const long long start = (long long)blockIdx.x * dim;
    float square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const float v = (float)x[start + j];
        square += v * v;
    }
    for (int offset = 16; offset; offset /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x == 0)
        rstd = rsqrtf((partial[0] + partial[1] + partial[2] + partial[3]) / dim + eps);
    __syncthreads();
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[start + j] = (T)((float)x[start + j] * rstd) * gamma[j];
}
"""
TYPES = {"float32": "float", "float16": "__half", "bfloat16": "__nv_bfloat16"}
MODULE = cp.RawModule(
    code=SOURCE,
    options=("-std=c++17",),
    name_expressions=[f"forward<{name}>" for name in TYPES.values()],
)


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.dgamma = None

    def forward(self, x):
        self.dtype = x.dtype
        work = cp.float64 if x.dtype == cp.float64 else cp.float32
        self.x = x.astype(work)
        mean_square = (self.x * self.x).mean(axis=-1, keepdims=True)
        self.rstd = 1 / cp.sqrt(mean_square + work(self.eps))
        if x.dtype == cp.float64 or not x.size:
            return (self.x * self.rstd * self.gamma).astype(x.dtype)
        x = cp.ascontiguousarray(x)
        y = cp.empty_like(x)
        dim = x.shape[-1]
        kernel = MODULE.get_function(f"forward<{TYPES[x.dtype.name]}>")
        sizes = np.int32(dim), np.float32(self.eps)
        kernel((x.size // dim,), (128,), (x, self.gamma, y, *sizes))
        return y

    def backward(self, dout):
        d, gamma = dout.astype(self.x.dtype), self.gamma.astype(self.x.dtype)
        xhat = self.x * self.rstd
        axes = tuple(range(d.ndim - 1))
        self.dgamma = (d * xhat).sum(axis=axes).astype(self.gamma.dtype)
        g = d * gamma
        dx = (g - xhat * (g * xhat).mean(axis=-1, keepdims=True)) * self.rstd
        return dx.astype(self.dtype)
