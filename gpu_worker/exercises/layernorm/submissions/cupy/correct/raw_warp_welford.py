# outcome: accepted
import cupy as cp
import numpy as np

SOURCE = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>

// A warp for each row. Mean and variance in one pass: each lane runs along its elements, then the
// lanes' statistics are joined in pairs, by the formulas of Welford and of Chan.
template <typename T, typename A>
__global__ void __launch_bounds__(128) forward(
    const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta,
    T* __restrict__ y, A* __restrict__ mean, A* __restrict__ rstd, long long rows, int dim,
    A eps) {
    const int lane = threadIdx.x;
    const long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    x += row * dim;
    y += row * dim;
    A count = 0, m = 0, square = 0;
    for (int j = lane; j < dim; j += 32) {
        const A value = (A)x[j], delta = value - m;
        count += 1;
        m += delta / count;
        square += delta * (value - m);
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        const A other_count = __shfl_xor_sync(0xffffffffu, count, offset);
        const A other_m = __shfl_xor_sync(0xffffffffu, m, offset);
        const A other_square = __shfl_xor_sync(0xffffffffu, square, offset);
        const A both = count + other_count;
        if (both > 0) {
            // Both lanes of a pair must come to the same bits: weights, no difference of two.
            const A delta = other_m - m, share = count / both, other_share = other_count / both;
            m = m * share + other_m * other_share;
            square += other_square + delta * delta * count * other_share;
        }
        count = both;
    }
    m = __shfl_sync(0xffffffffu, m, 0);
    square = __shfl_sync(0xffffffffu, square, 0);
    const A r = (A)1 / sqrt(square / dim + eps);
    if (lane == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
    for (int j = lane; j < dim; j += 32)
        y[j] = (T)(((A)x[j] - m) * r * (A)gamma[j] + (A)beta[j]);
}

template <typename A> __device__ __forceinline__ A warp_sum(A value) {
    #pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

template <typename T, typename A>
__global__ void __launch_bounds__(128) backward(
    const T* __restrict__ x, const T* __restrict__ dout, const T* __restrict__ gamma,
    const A* __restrict__ mean, const A* __restrict__ rstd, T* __restrict__ dx, long long rows,
    int dim) {
    const int lane = threadIdx.x;
    const long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    x += row * dim;
    dout += row * dim;
    dx += row * dim;
    const A m = mean[row], r = rstd[row];
    A sum = 0, along = 0;
    for (int j = lane; j < dim; j += 32) {
        const A g = (A)dout[j] * (A)gamma[j];
        sum += g;
        along += g * ((A)x[j] - m) * r;
    }
    sum = warp_sum(sum) / dim;
    along = warp_sum(along) / dim;
    for (int j = lane; j < dim; j += 32)
        dx[j] = (T)(((A)dout[j] * (A)gamma[j] - sum - ((A)x[j] - m) * r * along) * r);
}

// A tile of 32 columns for each block; its eight warps take every eighth row.
template <typename T, typename A>
__global__ void __launch_bounds__(256) parameter_gradients(
    const T* __restrict__ x, const T* __restrict__ dout, const A* __restrict__ mean,
    const A* __restrict__ rstd, T* __restrict__ dgamma, T* __restrict__ dbeta, long long rows,
    int dim) {
    __shared__ A sums[2][8][33];
    const int lane = threadIdx.x, warp = threadIdx.y, column = blockIdx.x * 32 + lane;
    A for_gamma = 0, for_beta = 0;
    for (long long i = warp; column < dim && i < rows; i += 8) {
        const A d = (A)dout[i * dim + column];
        for_gamma += d * ((A)x[i * dim + column] - mean[i]) * rstd[i];
        for_beta += d;
    }
    sums[0][warp][lane] = for_gamma;
    sums[1][warp][lane] = for_beta;
    __syncthreads();
    if (warp < 2 && column < dim) {
        A sum = 0;
        for (int k = 0; k < 8; k++) sum += sums[warp][k][lane];
        (warp ? dbeta : dgamma)[column] = (T)sum;
    }
}
"""
TYPES = {
    "float16": ("__half, float", np.float32),
    "bfloat16": ("__nv_bfloat16, float", np.float32),
    "float32": ("float, float", np.float32),
    "float64": ("double, double", np.float64),
}
NAMES = ("forward", "backward", "parameter_gradients")
MODULES = {
    dtype: cp.RawModule(code=SOURCE, name_expressions=[f"{name}<{types}>" for name in NAMES])
    for dtype, (types, _) in TYPES.items()
}


class LayerNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)

    def launch(self, name, blocks, block, *args):
        dtype = self.x.dtype.name
        kernel = MODULES[dtype].get_function(f"{name}<{TYPES[dtype][0]}>")
        kernel((blocks,), block, (*args, np.int64(self.rows), np.int32(self.dim), *self.last))

    def forward(self, x):
        self.x = cp.ascontiguousarray(x)
        self.rows = x.size // self.dim
        work = TYPES[x.dtype.name][1]
        y = cp.empty(x.shape, x.dtype)
        self.mean, self.rstd = cp.empty((2, self.rows), work)
        if self.rows:
            gamma, beta = self.gamma.astype(x.dtype), self.beta.astype(x.dtype)
            self.last = (work(self.eps),)
            args = self.x, gamma, beta, y, self.mean, self.rstd
            self.launch("forward", -(-self.rows // 4), (32, 4), *args)
        return y

    def backward(self, dout):
        d = cp.ascontiguousarray(dout)
        dx = cp.empty(d.shape, d.dtype)
        dgamma, dbeta = cp.zeros((2, self.dim), d.dtype)
        if self.rows:
            kept = self.mean, self.rstd
            self.last = ()
            gamma = self.gamma.astype(d.dtype)
            self.launch("backward", -(-self.rows // 4), (32, 4), self.x, d, gamma, *kept, dx)
            args = self.x, d, *kept, dgamma, dbeta
            self.launch("parameter_gradients", -(-self.dim // 32), (32, 8), *args)
        self.dgamma = dgamma.astype(self.gamma.dtype)
        self.dbeta = dbeta.astype(self.beta.dtype)
        return dx
