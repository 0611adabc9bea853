# outcome: wrong_answer
# mistake: half-summed
import cupy as cp
import numpy as np

THREADS = 128
SOURCE = r"""
extern __shared__ float4 row[];

extern "C" __global__ void forward(const float* x, const float* gamma, float* y, int dim, float eps) {
    __shared__ float partial[4];
    const long long start = (long long)blockIdx.x * dim;
    const int packs = dim % 4 == 0 ? dim / 4 : 0;
    float* single = reinterpret_cast<float*>(row);
    float square = 0;
    for (int j = threadIdx.x; j < packs; j += blockDim.x) {
        const float4 v = reinterpret_cast<const float4*>(x + start)[j];
        row[j] = v;
        square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int j = 4 * packs + threadIdx.x; j < dim; j += blockDim.x) {
        single[j] = x[start + j];
        square += single[j] * single[j];
    }
    for (int offset = 8; offset > 0; offset >>= 1)
        square += __shfl_down_sync(0xffffffffu, square, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = square;
    __syncthreads();
    const float rstd = rsqrtf((partial[0] + partial[1] + partial[2] + partial[3]) / dim + eps);
    for (int j = threadIdx.x; j < packs; j += blockDim.x) {
        const float4 v = row[j], g = reinterpret_cast<const float4*>(gamma)[j];
        reinterpret_cast<float4*>(y + start)[j] =
            make_float4(v.x * rstd * g.x, v.y * rstd * g.y, v.z * rstd * g.z, v.w * rstd * g.w);
    }
    for (int j = 4 * packs + threadIdx.x; j < dim; j += blockDim.x)
        y[start + j] = single[j] * rstd * gamma[j];
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
            shared = 4 * (self.dim + 3)
            KERNEL((rows,), (THREADS,), (x, self.gamma, y, *sizes), shared_mem=shared)
        return y
