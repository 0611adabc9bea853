# outcome: wrong_answer
# mistake: sum-in-one-thread
import cupy as cp
import numpy as np

THREADS = 32
SOURCE = r"""
// The sum of `value` over a warp; only its first lane has it.
__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

// One block takes one row.
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim,
                                   float eps) {
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) square += x[j] * x[j];
    const float rstd = rsqrtf(warp_sum(square) / dim + eps);
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
