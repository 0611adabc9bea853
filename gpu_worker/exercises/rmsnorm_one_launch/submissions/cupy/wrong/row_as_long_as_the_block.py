# outcome: wrong_answer
# diagnosis: none
# finding: unwritten-output
# Each thread takes one element, so a block of 256 threads takes 256 of a row.
import cupy as cp
import numpy as np

THREADS = 256
SOURCE = r"""
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

// One block takes one row.
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim,
                                   float eps) {
    __shared__ float partial[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    const int j = threadIdx.x;
    const float value = j < dim ? x[j] : 0, square = value * value;
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    if (j < dim) y[j] = value * rstd * gamma[j];
}
"""
KERNEL = cp.RawKernel(SOURCE, "forward")


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            sizes = np.int32(self.dim), np.float32(self.eps)
            KERNEL((rows,), (THREADS,), (x, self.gamma, y, *sizes))
        return y
