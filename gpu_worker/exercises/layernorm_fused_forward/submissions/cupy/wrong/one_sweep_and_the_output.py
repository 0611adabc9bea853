# outcome: contract_error
# Both statistics from one sweep, but the output reads the row again.
import cupy as cp
import numpy as np

SOURCE = r"""
// Mean and sum of squared deviations of the numbers seen so far (Welford 1962), and how many.
struct Moments {
    float mean, squares, count;
};

// Those of two sets together (Chan, Golub, LeVeque 1983).
__device__ Moments joined(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0) return a;
    const float apart = b.mean - a.mean, share = b.count / count;
    return {a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share, count};
}

__device__ Moments from_lane(Moments m, int offset) {
    return {__shfl_xor_sync(0xffffffffu, m.mean, offset),
            __shfl_xor_sync(0xffffffffu, m.squares, offset),
            __shfl_xor_sync(0xffffffffu, m.count, offset)};
}

// One block takes one row.
extern "C" __global__ void forward(const float* x, const float* gamma, const float* beta, float* y,
                                   int dim, float eps) {
    __shared__ Moments partial[8];
    x += (long long)blockIdx.x * dim;
    y += (long long)blockIdx.x * dim;
    Moments m = {0, 0, 0};
    for (int j = threadIdx.x; j < dim; j += blockDim.x) {
        const float value = x[j], before = value - m.mean;
        m.count += 1;
        m.mean += before / m.count;
        m.squares += before * (value - m.mean);
    }
    for (int offset = 16; offset > 0; offset >>= 1) m = joined(m, from_lane(m, offset));
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = m;
    __syncthreads();
    m = partial[0];
    for (int warp = 1; warp < 8; warp++) m = joined(m, partial[warp]);
    const float rstd = rsqrtf(m.squares / dim + eps);
    for (int j = threadIdx.x; j < dim; j += blockDim.x)
        y[j] = (x[j] - m.mean) * rstd * gamma[j] + beta[j];
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
