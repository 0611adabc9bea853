# outcome: wrong_answer
# diagnosis: any
# finding: half-accumulation
# Squares are added up in float16, which has eleven bits.
import cupy as cp
import numpy as np

THREADS = 32
SOURCE = r"""
#include <cuda_fp16.h>

// The sum of `value` over a block of one warp, in every thread.
__device__ float block_sum(float value) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

// One block takes one row.
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim,
                                   float eps) {
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    __half square = __float2half(0.0f);
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        square = __hadd(square, __float2half(x[j] * x[j]));
    const float rstd = rsqrtf(block_sum(__half2float(square)) / dim + eps);
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
