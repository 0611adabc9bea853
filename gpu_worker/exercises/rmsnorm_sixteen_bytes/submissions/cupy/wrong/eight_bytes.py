# outcome: contract_error
# Packs of two, float2, are half of what a thread can take at once.
import cupy as cp
import numpy as np

THREADS = 256
HELD = (1, 4, 16, 32)
SOURCE = r"""
const int THREADS = 256;

// The sum of `value` over a block of 256 threads, in every thread.
__device__ float block_sum(float value, float* partial) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = value;
    __syncthreads();
    value = partial[threadIdx.x & 7];
    for (int offset = 4; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// One block takes one row. Each thread holds HELD of its elements from the sum to the output.
template <int HELD>
__global__ void forward(const float* x, const float* gamma, float* y, int dim, float eps) {
    __shared__ float partial[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float held[HELD], square = 0;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        held[k] = j < dim ? x[j] : 0;
        square += held[k] * held[k];
    }
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) y[j] = held[k] * rstd * gamma[j];
    }
}

// The same with 8 bytes at a time: each thread holds HELD packs of two elements.
template <int HELD>
__global__ void forward_packs(const float2* x, const float2* gamma, float2* y, int dim, float eps) {
    __shared__ float partial[8];
    const int packs = dim / 2;
    x += (long long)blockIdx.x * packs;
    y += (long long)blockIdx.x * packs;
    float2 held[HELD];
    float square = 0;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        held[k] = j < packs ? x[j] : make_float2(0, 0);
        square += held[k].x * held[k].x + held[k].y * held[k].y;
    }
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < packs) {
            const float2 h = held[k], g = gamma[j];
            y[j] = make_float2(h.x * rstd * g.x, h.y * rstd * g.y);
        }
    }
}
"""
PACKS = (2, 8, 16)
KERNELS = [f"forward<{n}>" for n in HELD] + [f"forward_packs<{n}>" for n in PACKS]
MODULE = cp.RawModule(code=SOURCE, name_expressions=KERNELS)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def kernel(self, x):
        """Packs of two need rows that begin at multiples of 8 bytes; others go one by one."""
        addresses = x.data.ptr | self.gamma.data.ptr
        if self.dim % 2 == 0 and addresses % 8 == 0:
            held = next(held for held in PACKS if 2 * held * THREADS >= self.dim)
            return MODULE.get_function(f"forward_packs<{held}>")
        held = next(held for held in HELD if held * THREADS >= self.dim)
        return MODULE.get_function(f"forward<{held}>")

    def forward(self, x):
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            sizes = np.int32(self.dim), np.float32(self.eps)
            self.kernel(x)((rows,), (THREADS,), (x, self.gamma, y, *sizes))
        return y
