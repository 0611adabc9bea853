# outcome: wrong_answer
# mistake: gamma-missing-in-sum
import cupy as cp
import numpy as np

THREADS = 256
HELD = (1, 4, 16, 32)
"""Elements of a row per thread; the last suffices for rows of 8,192."""
ROWS_PER_BLOCK, MOST_BLOCKS = 8, 264
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
__global__ void forward(const float* x, const float* gamma, float* y, float* rstds, int dim,
                        float eps) {
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
    if (threadIdx.x == 0) rstds[blockIdx.x] = rstd;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) y[j] = held[k] * rstd * gamma[j];
    }
}

// Each block takes every gridDim.x-th row, and adds up its own part of dgamma on the way.
template <int HELD>
__global__ void backward(const float* x, const float* dout, const float* gamma, const float* rstd,
                         float* dx, float* parts, int rows, int dim) {
    __shared__ float partial[2][8];  // in turns, so that one barrier a row is enough
    float sums[HELD] = {};
    int turn = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
        const long long start = (long long)row * dim;
        const float r = rstd[row];
        float xhat[HELD], d[HELD], along = 0;
        #pragma unroll
        for (int k = 0; k < HELD; k++) {
            const int j = threadIdx.x + k * THREADS;
            xhat[k] = j < dim ? x[start + j] * r : 0;
            d[k] = j < dim ? dout[start + j] : 0;
            if (j < dim) along += d[k] * xhat[k];
        }
        const float mean = block_sum(along, partial[turn]) / dim;
        #pragma unroll
        for (int k = 0; k < HELD; k++) {
            const int j = threadIdx.x + k * THREADS;
            if (j < dim) dx[start + j] = (d[k] * gamma[j] - xhat[k] * mean) * r;
            sums[k] += d[k] * xhat[k];
        }
    }
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) parts[(long long)blockIdx.x * dim + j] = sums[k];
    }
}
"""
KERNELS = [f"{name}<{held}>" for name in ("forward", "backward") for held in HELD]
MODULE = cp.RawModule(code=SOURCE, name_expressions=KERNELS)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.dgamma = None

    def forward(self, x):
        self.x = x
        self.rows = x.size // self.dim
        y = cp.empty_like(x)
        self.rstd = cp.empty(self.rows, cp.float32)
        if self.rows:
            args = (x, self.gamma, y, self.rstd, np.int32(self.dim), np.float32(self.eps))
            self._kernel("forward")((self.rows,), (THREADS,), args)
        return y

    def backward(self, dout):
        dx = cp.empty_like(dout)
        if not self.rows:
            self.dgamma = cp.zeros(self.dim, cp.float32)
            return dx
        blocks = max(1, min(MOST_BLOCKS, self.rows // ROWS_PER_BLOCK))
        parts = cp.empty((blocks, self.dim), cp.float32)
        sizes = np.int32(self.rows), np.int32(self.dim)
        args = (self.x, dout, self.gamma, self.rstd, dx, parts, *sizes)
        self._kernel("backward")((blocks,), (THREADS,), args)
        self.dgamma = parts.sum(axis=0)
        return dx

    def _kernel(self, name: str):
        held = next(held for held in HELD if held * THREADS >= self.dim)
        return MODULE.get_function(f"{name}<{held}>")
