"""LayerNorm forward in one kernel that reads x once. This file is right and reads x three times.

    y = (x - mu) / sqrt(var + eps) * gamma + beta        mu, var: over the last axis

Rules of the exercise:
- x is float32 and C-contiguous, of shape (..., D), with 1 <= D <= 8192. A batch may be empty.
- y has the shape and the dtype of x. x, gamma and beta are not changed.
- The budget, counted for x of the shapes (16, 1024) and (8, 4096): at most 2.3 times the bytes of
  x moved, in one launch.
"""

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
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        """Normalize each row of x (..., D)."""
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            sizes = np.int32(self.dim), np.float32(self.eps)
            KERNEL((rows,), (256,), (x, self.gamma, self.beta, y, *sizes))
        return y


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = LayerNormScratch(dim=4)
    print(layer.forward(cp.array([[1.0, 2.0, 3.0, 4.0]], dtype=cp.float32)))
