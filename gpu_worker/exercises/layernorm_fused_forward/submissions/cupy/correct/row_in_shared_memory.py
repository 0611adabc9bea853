# outcome: accepted
import cupy as cp
import numpy as np

THREADS = 128
SOURCE = r"""
extern __shared__ float row[];

__device__ float block_sum(float value, float* partial) {
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    return partial[0] + partial[1] + partial[2] + partial[3];
}

extern "C" __global__ void forward(const float* x, const float* gamma, const float* beta, float* y,
                                   int dim, float eps) {
    __shared__ float sums[4], squares[4];
    const long long start = (long long)blockIdx.x * dim;
    float sum = 0, square = 0;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        row[j] = x[start + j];
        sum += row[j];
    }
    const float mean = block_sum(sum, sums) / dim;
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        row[j] -= mean;
        square += row[j] * row[j];
    }
    const float rstd = rsqrtf(block_sum(square, squares) / dim + eps);
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[start + j] = row[j] * rstd * gamma[j] + beta[j];
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
            KERNEL((rows,), (THREADS,), (x, self.gamma, self.beta, y, *sizes), shared_mem=4 * self.dim)
        return y
