# outcome: wrong_answer or runtime_error
# diagnosis: none
# finding: index-overflow
# Right for rows of at most 127 numbers: the product of longer ones does not fit into an int.
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
    // A stretch of the row for each thread: t * dim / 256, in numbers with 24 bits behind the point.
    const int t = threadIdx.x, share = (1 << 24) / 256;
    const int first = t * dim * share >> 24, end = (t + 1) * dim * share >> 24;
    float square = 0;
    for (int j = first; j < end; j++) square += x[j] * x[j];
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    for (int j = first; j < end; j++) y[j] = x[j] * rstd * gamma[j];
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
