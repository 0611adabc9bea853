# outcome: contract_error
# x is read once, but no thread has registers for 8,192 values: the array lies in the device's memory.
import cupy as cp
import numpy as np

THREADS = 32
KERNEL = cp.RawKernel(
    r"""
extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int rows, int dim, float eps) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    x += (long long)row * dim;
    y += (long long)row * dim;
    float held[8192], square = 0;
    for (int j = 0; j < dim; j++) {
        held[j] = x[j];
        square += held[j] * held[j];
    }
    const float rstd = rsqrtf(square / dim + eps);
    for (int j = 0; j < dim; j++) y[j] = held[j] * rstd * gamma[j];
}
""",
    "forward",
)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            sizes = np.int32(rows), np.int32(self.dim), np.float32(self.eps)
            KERNEL((-(-rows // THREADS),), (THREADS,), (x, self.gamma, y, *sizes))
        return y
