# outcome: wrong_answer
# mistake: sum-in-one-thread
import cupy as cp
import numpy as np

THREADS = 256
SOURCE = r"""
// The sum of `value` over a block of 256 threads. Only its first thread has it.
__device__ float block_sum(float value, float* partial) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < 8 ? partial[lane] : 0;
        for (int offset = 16; offset > 0; offset >>= 1)
            value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

// One block takes one row.
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim,
                                   float eps) {
    __shared__ float partial[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) square += x[j] * x[j];
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    for (int j = threadIdx.x; j < dim; j += blockDim.x) y[j] = x[j] * rstd * gamma[j];
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
