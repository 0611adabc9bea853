# outcome: wrong_answer
# mistake: one-pass-variance
from functools import cache

import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// The sum over a block of 128 threads, in every thread.
template <typename A>
__device__ A block_sum(A value, A* partial) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = value;
    __syncthreads();
    value = partial[0] + partial[1] + partial[2] + partial[3];
    __syncthreads();
    return value;
}

// One block for each row.
template <typename T, typename A>
__global__ void forward(
    const T* x, const T* gamma, const T* beta, T* y, A* mean, A* rstd, int dim, A eps) {
    __shared__ A partial[4];
    const long long start = (long long)blockIdx.x * dim;
    A sum = 0, square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) sum += (A)x[start + j];
    const A m = block_sum(sum, partial) / dim;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const A value = (A)x[start + j];
        square += value * value;
    }
    const A variance = block_sum(square, partial) / dim - m * m;
    const A r = (A)1 / sqrt(variance + eps);
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = r;
    }
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[start + j] = (T)(((A)x[start + j] - m) * r * (A)gamma[j] + (A)beta[j]);
}

template <typename T, typename A>
__global__ void backward(
    const T* x, const T* dout, const T* gamma, const A* mean, const A* rstd, T* dx, int dim) {
    __shared__ A partial[4];
    const long long start = (long long)blockIdx.x * dim;
    const A m = mean[blockIdx.x], r = rstd[blockIdx.x];
    A sum = 0, along = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const A g = (A)dout[start + j] * (A)gamma[j];
        sum += g;
        along += g * ((A)x[start + j] - m) * r;
    }
    const A mean_g = block_sum(sum, partial) / dim;
    const A mean_along = block_sum(along, partial) / dim;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const A xhat = ((A)x[start + j] - m) * r;
        dx[start + j] = (T)(((A)dout[start + j] * (A)gamma[j] - mean_g - xhat * mean_along) * r);
    }
}

// One thread for each column: neighbours read neighbouring elements.
template <typename T, typename A>
__global__ void parameter_gradients(
    const T* x, const T* dout, const A* mean, const A* rstd, T* dgamma, T* dbeta, long long rows,
    int dim) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= dim) return;
    A gamma_sum = 0, beta_sum = 0;
    for (long long i = 0; i < rows; i++) {
        const A d = (A)dout[i * dim + j];
        gamma_sum += d * ((A)x[i * dim + j] - mean[i]) * rstd[i];
        beta_sum += d;
    }
    dgamma[j] = (T)gamma_sum;
    dbeta[j] = (T)beta_sum;
}
"""
TYPES = {
    "float16": ("__half, float", np.float32),
    "bfloat16": ("__nv_bfloat16, float", np.float32),
    "float32": ("float, float", np.float32),
    "float64": ("double, double", np.float64),
}
NAMES = ("forward", "backward", "parameter_gradients")
THREADS = 128


@cache
def module(types):
    names = [f"{name}<{types}>" for name in NAMES]
    return cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=names)


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def kernel(self, name):
        return module(self.types).get_function(f"{name}<{self.types}>")

    def forward(self, x):
        self.x = cp.ascontiguousarray(x)
        self.types, self.work = TYPES[x.dtype.name]
        self.rows = x.size // self.dim
        y = cp.empty(x.shape, x.dtype)
        self.mean, self.rstd = cp.empty(self.rows, self.work), cp.empty(self.rows, self.work)
        if self.rows:
            gamma, beta = self.gamma.astype(x.dtype), self.beta.astype(x.dtype)
            args = (self.x, gamma, beta, y, self.mean, self.rstd)
            args += (np.int32(self.dim), self.work(self.eps))
            self.kernel("forward")((self.rows,), (THREADS,), args)
        return y

    def backward(self, dout):
        d = cp.ascontiguousarray(dout)
        dx = cp.empty(d.shape, d.dtype)
        dgamma, dbeta = cp.zeros(self.dim, d.dtype), cp.zeros(self.dim, d.dtype)
        if self.rows:
            gamma = self.gamma.astype(d.dtype)
            args = (self.x, d, gamma, self.mean, self.rstd, dx, np.int32(self.dim))
            self.kernel("backward")((self.rows,), (THREADS,), args)
            blocks = -(-self.dim // THREADS)
            args = (self.x, d, self.mean, self.rstd, dgamma, dbeta)
            args += (np.int64(self.rows), np.int32(self.dim))
            self.kernel("parameter_gradients")((blocks,), (THREADS,), args)
        self.dgamma = dgamma.astype(self.gamma.dtype)
        self.dbeta = dbeta.astype(self.beta.dtype)
        return dx
