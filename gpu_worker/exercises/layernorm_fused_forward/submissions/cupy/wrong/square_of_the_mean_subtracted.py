# outcome: wrong_answer
# mistake: one-pass-variance
# The mean of the squares less the square of the mean cancels where the mean is large.
import cupy as cp
import numpy as np

THREADS = 256
HELD = (1, 4, 16, 32)
"""Elements of a row per thread; the last suffices for rows of 8,192."""
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

// One block takes one row. Each thread holds HELD of its elements from the sums to the output.
template <int HELD>
__global__ void forward(const float* x, const float* gamma, const float* beta, float* y, int dim,
                        float eps) {
    __shared__ float partial[8], again[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float held[HELD], sum = 0, square = 0;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        held[k] = j < dim ? x[j] : 0;
        sum += held[k];
        square += held[k] * held[k];
    }
    const float mean = block_sum(sum, partial) / dim;
    const float rstd = rsqrtf(block_sum(square, again) / dim - mean * mean + eps);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) y[j] = (held[k] - mean) * rstd * gamma[j] + beta[j];
    }
}
"""
MODULE = cp.RawModule(code=SOURCE, name_expressions=[f"forward<{held}>" for held in HELD])


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            held = next(held for held in HELD if held * THREADS >= self.dim)
            kernel = MODULE.get_function(f"forward<{held}>")
            sizes = np.int32(self.dim), np.float32(self.eps)
            kernel((rows,), (THREADS,), (x, self.gamma, self.beta, y, *sizes))
        return y
