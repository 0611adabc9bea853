# outcome: contract_error
import cupy as cp
import numpy as np

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
extern "C" __global__ void forward(const float* x, const float* gamma, const float* beta, float* y,
                                   int dim, float eps) {
    __shared__ float partial[8], again[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float sum = 0, square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) sum += x[j];
    const float mean = block_sum(sum, partial) / dim;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) square += (x[j] - mean) * (x[j] - mean);
    const float rstd = rsqrtf(block_sum(square, again) / dim + eps);
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
}
"""
KERNEL = cp.RawKernel(SOURCE, "forward")


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
            sizes = np.int32(self.dim), np.float32(self.eps)
            KERNEL((rows,), (256,), (x, self.gamma, self.beta, y, *sizes))
        return y
