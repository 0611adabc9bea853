"""RMSNorm forward, 16 bytes at a time. This file is right and takes 4 bytes at a time.

    y = x / RMS(x) * gamma        RMS(x) = sqrt(mean(x**2) + eps), over the last axis

Rules of the exercise:
- x is float32 and C-contiguous, of shape (..., D), with 1 <= D <= 8192. A batch may be empty.
- y has the shape and the dtype of x. x and gamma are not changed.
- The budget, counted for x of the shapes (16, 1024) and (8, 4096): at most 2.25 times the bytes of
  x moved, in one launch, whose loads of x and of gamma and stores of y each move at least 12 bytes
  at once on average.
"""

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

// One block takes one row. Each thread holds HELD of its elements from the sum to the output.
template <int HELD>
__global__ void forward(const float* x, const float* gamma, float* y, int dim, float eps) {
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
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) y[j] = held[k] * rstd * gamma[j];
    }
}
"""
MODULE = cp.RawModule(code=SOURCE, name_expressions=[f"forward<{held}>" for held in HELD])


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        """Normalize each row of x (..., D)."""
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            held = next(held for held in HELD if held * THREADS >= self.dim)
            kernel = MODULE.get_function(f"forward<{held}>")
            sizes = np.int32(self.dim), np.float32(self.eps)
            kernel((rows,), (THREADS,), (x, self.gamma, y, *sizes))
        return y


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = RMSNormScratch(dim=4)
    print(layer.forward(cp.array([[1.0, 2.0, 3.0, 4.0]], dtype=cp.float32)))
