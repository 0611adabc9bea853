# outcome: contract_error
# finding: launch-size
# Long rows take 1,024 threads that hold 64 elements each, as for rows of 65,536: those need more
# registers than a block has. The rows that are counted are short, and take 256 threads.
import cupy as cp
import numpy as np

SOURCE = r"""
// One block takes one row. Each thread holds HELD of its elements from the sum to the output.
template <int THREADS, int HELD>
__global__ void forward(const float* x, const float* gamma, float* y, int dim, float eps) {
    __shared__ float partial[THREADS / 32];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    float held[HELD], square = 0;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        held[k] = j < dim ? x[j] : 0;
        square += held[k] * held[k];
    }
    for (int offset = 16; offset > 0; offset >>= 1)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = square;
    __syncthreads();
    square = partial[threadIdx.x % (THREADS / 32)];
    for (int offset = THREADS / 64; offset > 0; offset >>= 1)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    const float rstd = rsqrtf(square / dim + eps);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < dim) y[j] = held[k] * rstd * gamma[j];
    }
}
"""
MODULE = cp.RawModule(code=SOURCE, name_expressions=("forward<256, 16>", "forward<1024, 64>"))


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
            threads, held = (256, 16) if self.dim <= 4096 else (1024, 64)
            sizes = np.int32(self.dim), np.float32(self.eps)
            kernel = MODULE.get_function(f"forward<{threads}, {held}>")
            kernel((rows,), (threads,), (x, self.gamma, y, *sizes))
        return y
