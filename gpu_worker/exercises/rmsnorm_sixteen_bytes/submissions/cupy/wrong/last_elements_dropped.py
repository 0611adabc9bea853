# outcome: wrong_answer
# diagnosis: none
# finding: unwritten-output
# Rows are taken by packs of four alone: what is left over at their end is never written.
import cupy as cp
import numpy as np

THREADS = 256
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

// One block takes one row, 16 bytes at a time.
template <int HELD>
__global__ void forward_packs(const float4* x, const float4* gamma, float4* y, int dim, float eps) {
    __shared__ float partial[8];
    const int packs = dim / 4;
    x += (long long)blockIdx.x * packs;
    y += (long long)blockIdx.x * packs;
    float4 held[HELD];
    float square = 0;
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        held[k] = j < packs ? x[j] : make_float4(0, 0, 0, 0);
        square += held[k].x * held[k].x + held[k].y * held[k].y;
        square += held[k].z * held[k].z + held[k].w * held[k].w;
    }
    const float rstd = rsqrtf(block_sum(square, partial) / dim + eps);
    #pragma unroll
    for (int k = 0; k < HELD; k++) {
        const int j = threadIdx.x + k * THREADS;
        if (j < packs) {
            const float4 h = held[k], g = gamma[j];
            y[j] = make_float4(h.x * rstd * g.x, h.y * rstd * g.y, h.z * rstd * g.z, h.w * rstd * g.w);
        }
    }
}
"""
PACKS = (1, 2, 4, 8)
KERNELS = [f"forward_packs<{n}>" for n in PACKS]
MODULE = cp.RawModule(code=SOURCE, name_expressions=KERNELS)


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        y = cp.empty_like(x)
        rows = x.size // self.dim
        if rows:
            sizes = np.int32(self.dim), np.float32(self.eps)
            held = next(held for held in PACKS if 4 * held * THREADS >= self.dim)
            kernel = MODULE.get_function(f"forward_packs<{held}>")
            kernel((rows,), (THREADS,), (x, self.gamma, y, *sizes))
        return y
