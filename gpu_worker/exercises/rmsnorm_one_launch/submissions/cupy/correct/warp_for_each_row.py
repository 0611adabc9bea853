# outcome: accepted
# Eight warps of a block take a row each, and need neither shared memory nor a barrier.
import cupy as cp
import numpy as np

ROWS = 8
SOURCE = r"""
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int rows, int dim,
                                   float eps) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    x += (long long)row * dim;
    y += (long long)row * dim;
    float square = 0;
    for (int j = threadIdx.x; j < dim; j += 32) square += x[j] * x[j];
    for (int offset = 16; offset > 0; offset >>= 1)
        square += __shfl_xor_sync(0xffffffffu, square, offset);
    const float rstd = rsqrtf(square / dim + eps);
    for (int j = threadIdx.x; j < dim; j += 32) y[j] = x[j] * rstd * gamma[j];
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
            grid = (-(-rows // ROWS),)
            sizes = np.int32(rows), np.int32(self.dim), np.float32(self.eps)
            KERNEL(grid, (32, ROWS), (x, self.gamma, y, *sizes))
        return y
