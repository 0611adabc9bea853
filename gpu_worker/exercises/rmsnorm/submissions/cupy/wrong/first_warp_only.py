# outcome: wrong_answer
# mistake: one-warp-only
import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// The sum over a block of 128 threads, as its first warp has it.
template <typename A>
__device__ A block_sum(A value, A* partial) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (threadIdx.x == 0) *partial = value;
    __syncthreads();
    value = *partial;
    __syncthreads();
    return value;
}

// One block for each row.
template <typename T, typename A>
__global__ void forward(const T* x, const T* gamma, T* y, A* rstd, int dim, A eps) {
    __shared__ A partial[4];
    const long long start = (long long)blockIdx.x * dim;
    A square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        A value = (A)x[start + j];
        square += value * value;
    }
    const A r = (A)1 / sqrt(block_sum(square, partial) / dim + eps);
    if (threadIdx.x == 0) rstd[blockIdx.x] = r;
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[start + j] = (T)((A)x[start + j] * r * (A)gamma[j]);
}

template <typename T, typename A>
__global__ void backward(const T* x, const T* dout, const T* gamma, const A* rstd, T* dx, int dim) {
    __shared__ A partial[4];
    const long long start = (long long)blockIdx.x * dim;
    const A r = rstd[blockIdx.x];
    A along = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        along += (A)dout[start + j] * (A)gamma[j] * (A)x[start + j] * r;
    const A mean = block_sum(along, partial) / dim;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const A xhat = (A)x[start + j] * r;
        dx[start + j] = (T)(((A)dout[start + j] * (A)gamma[j] - xhat * mean) * r);
    }
}

// One thread for each column: neighbours read neighbouring elements.
template <typename T, typename A>
__global__ void gamma_gradient(
    const T* x, const T* dout, const A* rstd, T* dgamma, long long rows, int dim) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= dim) return;
    A sum = 0;
    for (long long i = 0; i < rows; i++)
        sum += (A)dout[i * dim + j] * (A)x[i * dim + j] * rstd[i];
    dgamma[j] = (T)sum;
}
"""
TYPES = {
    "float16": ("__half, float", np.float32),
    "bfloat16": ("__nv_bfloat16, float", np.float32),
    "float32": ("float, float", np.float32),
    "float64": ("double, double", np.float64),
}
KERNELS = [f"{k}<{t}>" for t, _ in TYPES.values() for k in ("forward", "backward", "gamma_gradient")]
MODULE = cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=KERNELS)
THREADS = 128


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def kernel(self, name):
        return MODULE.get_function(f"{name}<{self.types}>")

    def forward(self, x):
        self.x = cp.ascontiguousarray(x)
        self.types, self.work = TYPES[x.dtype.name]
        self.rows = x.size // self.dim
        y = cp.empty(x.shape, x.dtype)
        self.rstd = cp.empty(self.rows, self.work)
        if self.rows:
            gamma = self.gamma.astype(x.dtype)
            args = (self.x, gamma, y, self.rstd, np.int32(self.dim), self.work(self.eps))
            self.kernel("forward")((self.rows,), (THREADS,), args)
        return y

    def backward(self, dout):
        d = cp.ascontiguousarray(dout)
        dx = cp.empty(d.shape, d.dtype)
        dgamma = cp.zeros(self.dim, d.dtype)
        if self.rows:
            gamma = self.gamma.astype(d.dtype)
            args = (self.x, d, gamma, self.rstd, dx, np.int32(self.dim))
            self.kernel("backward")((self.rows,), (THREADS,), args)
            blocks = -(-self.dim // THREADS)
            args = (self.x, d, self.rstd, dgamma, np.int64(self.rows), np.int32(self.dim))
            self.kernel("gamma_gradient")((blocks,), (THREADS,), args)
        self.dgamma = dgamma.astype(self.gamma.dtype)
        return dx
