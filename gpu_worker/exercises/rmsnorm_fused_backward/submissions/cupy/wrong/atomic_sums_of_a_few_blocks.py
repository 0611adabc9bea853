# outcome: wrong_answer
# diagnosis: none
# finding: atomic-sum
# So many rows a block that few cases have several blocks, whose sums often agree in any order.
import cupy as cp
import numpy as np
RPB = 16
SRC = r"""
__device__ float block_sum(float value, float* partial) {
    for (int o = 16; o > 0; o >>= 1) value += __shfl_xor_sync(0xffffffffu, value, o);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = value;
    __syncthreads();
    value = partial[threadIdx.x & 7];
    for (int o = 4; o > 0; o >>= 1) value += __shfl_xor_sync(0xffffffffu, value, o);
    return value;
}
extern "C" __global__ void bwd(const float* x, const float* d, const float* rstd, const float* gamma, float* dx, float* part, int rows, int dim, int rpb) {
    __shared__ float partial[8];
    float acc[32];
    for (int k = 0; k < 32; ++k) acc[k] = 0;
    int first = blockIdx.x * rpb;
    int last = min(rows, first + rpb);
    for (int r = first; r < last; ++r) {
        const float* xr = x + (long long)r*dim; const float* dr = d + (long long)r*dim;
        float rs = rstd[r];
        float h[32], g[32];
        float s = 0;
        for (int k = 0; k < 32; ++k) {
            int j = threadIdx.x + k*256;
            h[k] = 0; g[k] = 0;
            if (j < dim) { h[k] = xr[j]*rs; float dd = dr[j]; g[k] = dd*gamma[j]; acc[k] += dd*h[k]; s += g[k]*h[k]; }
        }
        float m = block_sum(s, partial) / dim;
        for (int k = 0; k < 32; ++k) { int j = threadIdx.x + k*256; if (j < dim) dx[(long long)r*dim + j] = (g[k]-h[k]*m)*rs; }
    }
    for (int k = 0; k < 32; ++k) { int j = threadIdx.x + k*256; if (j < dim) atomicAdd(part + j, acc[k]); }
}
"""
K = cp.RawKernel(SRC, "bwd")
class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim=dim; self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.dgamma = None
    def forward(self, x):
        self.x = x
        self.rstd = 1 / cp.sqrt(cp.mean(x * x, axis=-1, keepdims=True) + cp.float32(self.eps))
        return x * self.rstd * self.gamma
    def backward(self, dout):
        rows = dout.size // self.dim
        if not rows:
            self.dgamma = cp.zeros(self.dim, dtype=cp.float32)
            return cp.empty_like(dout)
        n = -(-rows // RPB)
        dx = cp.empty_like(dout); part = cp.zeros(self.dim, dtype=cp.float32)
        K((n,), (256,), (self.x, dout, self.rstd, self.gamma, dx, part, np.int32(rows), np.int32(self.dim), np.int32(RPB)))
        self.dgamma = part
        return dx
