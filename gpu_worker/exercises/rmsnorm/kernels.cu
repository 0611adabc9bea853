// RMSNorm, forward and backward. The rules for launching are in launch.py beside this file.
//
//   rstd = 1 / sqrt(mean(x*x) + eps)    xhat = x * rstd    y = xhat * gamma
//   dgamma = sum over rows of d * xhat  dx = (d*gamma - xhat * mean(d*gamma*xhat)) * rstd
//
// T is what arrays hold; sums are in float, for double in double. A row is read in packs of V
// elements, 16 bytes each where its address and length allow, single ones elsewhere. K packs per
// thread are kept in registers, so that device memory is read once and written once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T> struct WideOf { typedef float type; };
template <> struct WideOf<double> { typedef double type; };
#define Wide typename WideOf<T>::type

__device__ __forceinline__ double wide(double x) { return x; }
__device__ __forceinline__ float wide(float x) { return x; }
__device__ __forceinline__ float wide(__half x) { return __half2float(x); }
__device__ __forceinline__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T> __device__ __forceinline__ T narrow(Wide x);
template <> __device__ __forceinline__ double narrow<double>(double x) { return x; }
template <> __device__ __forceinline__ float narrow<float>(float x) { return x; }
template <> __device__ __forceinline__ __half narrow<__half>(float x) { return __float2half_rn(x); }
template <> __device__ __forceinline__ __nv_bfloat16 narrow<__nv_bfloat16>(float x) { return __float2bfloat16_rn(x); }

template <typename T, int V> struct alignas(sizeof(T) * V) Pack { T at[V]; };

// A row: consecutive packs, or for V = 1 elements at any distance.
template <typename T, int V> struct Row {
  const T *first;
  long long step;
  __device__ __forceinline__ Pack<T, V> operator[](int pack) const {
    if (V == 1) return *reinterpret_cast<const Pack<T, V> *>(first + pack * step);
    return reinterpret_cast<const Pack<T, V> *>(first)[pack];
  }
};

// Sums over a warp: a butterfly, so that all lanes get the same bits.
template <typename A> __device__ __forceinline__ A warp_sum(A value) {
  #pragma unroll
  for (int step = 16; step; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// Sums over a block with one barrier. `scratch` must not be used again before another barrier.
template <int THREADS, typename A> __device__ __forceinline__ A block_sum(A value, A *scratch) {
  value = warp_sum(value);
  if (THREADS == 32) return value;
  const int lane = threadIdx.x & 31;
  if (lane == 0) scratch[threadIdx.x >> 5] = value;
  __syncthreads();
  return warp_sum(lane < THREADS / 32 ? scratch[lane] : A(0));
}

// --- forward -----------------------------------------------------------------------------------
// One row by THREADS threads: registers from first to last.
template <typename T, int V, int THREADS, int K>
__device__ __forceinline__ void forward_row(Row<T, V> x, const T *__restrict__ gamma, T *__restrict__ y,
                                            Wide *rstd, int dim, Wide eps, Wide *scratch) {
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(y);
  const int packs = dim / V;
  Pack<T, V> kept[K];
  Wide squares = 0;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) kept[k] = x[pack];
  }
  #pragma unroll
  for (int k = 0; k < K; k++) {
    if (threadIdx.x + k * THREADS < packs) {
      #pragma unroll
      for (int j = 0; j < V; j++) squares += wide(kept[k].at[j]) * wide(kept[k].at[j]);
    }
  }
  const Wide scale = rsqrt(block_sum<THREADS>(squares, scratch) / dim + eps);
  if (threadIdx.x == 0) *rstd = scale;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      const Pack<T, V> g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++) result.at[j] = narrow<T>(wide(kept[k].at[j]) * scale * wide(g.at[j]));
      out[pack] = result;
    }
  }
}

// A warp per row: short rows. blockDim = (32, rows of a block).
template <typename T, int V, int K>
__global__ void __launch_bounds__(128, 1)
forward_warp(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
             T *__restrict__ y, Wide *__restrict__ rstd, long long rows, int dim, Wide eps) {
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows; row += (long long)gridDim.x * blockDim.y)
    forward_row<T, V, 32, K>(Row<T, V>{x + row * x_row, x_column}, gamma, y + row * dim, rstd + row, dim, eps, nullptr);
}

// A block per row: rows that fit into its registers.
template <typename T, int V, int THREADS, int K>
__global__ void __launch_bounds__(THREADS, 1)
forward_block(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
              T *__restrict__ y, Wide *__restrict__ rstd, long long rows, int dim, Wide eps) {
  __shared__ Wide scratch[2][32];
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1)
    forward_row<T, V, THREADS, K>(Row<T, V>{x + row * x_row, x_column}, gamma, y + row * dim, rstd + row, dim, eps, scratch[turn]);
}

// Rows of any length: read twice, the second time from the cache where it holds them.
template <typename T, int V, int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
forward_long(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
             T *__restrict__ y, Wide *__restrict__ rstd, long long rows, int dim, Wide eps) {
  __shared__ Wide scratch[2][32];
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const int packs = dim / V;
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    const Row<T, V> values = {x + row * x_row, x_column};
    Wide squares = 0;
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> v = values[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) squares += wide(v.at[j]) * wide(v.at[j]);
    }
    const Wide scale = rsqrt(block_sum<THREADS>(squares, scratch[turn]) / dim + eps);
    if (threadIdx.x == 0) rstd[row] = scale;
    Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(y + row * dim);
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> v = values[pack], g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++) result.at[j] = narrow<T>(wide(v.at[j]) * scale * wide(g.at[j]));
      out[pack] = result;
    }
  }
}

// --- backward ----------------------------------------------------------------------------------
// One row by THREADS threads: dx, and this row's terms of dgamma added to those in registers.
template <typename T, int V, int THREADS, int K>
__device__ __forceinline__ void backward_row(Row<T, V> x, Row<T, V> d, const T *__restrict__ gamma,
                                             T *__restrict__ dx, Wide rstd, int dim, Wide *scratch,
                                             Wide (&dgamma)[K * V]) {
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const int packs = dim / V;
  Pack<T, V> xs[K], ds[K];
  Wide dot = 0;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      xs[k] = x[pack];
      ds[k] = d[pack];
    }
  }
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      const Pack<T, V> g = gammas[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) {
        const Wide term = wide(ds[k].at[j]) * (wide(xs[k].at[j]) * rstd);
        dgamma[k * V + j] += term;
        dot += term * wide(g.at[j]);
      }
    }
  }
  const Wide mean = block_sum<THREADS>(dot, scratch) / dim;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      const Pack<T, V> g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++)
        result.at[j] = narrow<T>((wide(ds[k].at[j]) * wide(g.at[j]) - wide(xs[k].at[j]) * rstd * mean) * rstd);
      reinterpret_cast<Pack<T, V> *>(dx)[pack] = result;
    }
  }
}

// A warp per row; blocks stay and take row after row. Each block leaves one row of `parts`, of
// shape (gridDim.x, dim): its warps' sums in the order of the warps. Dynamic shared memory: dim.
template <typename T, int V, int K>
__global__ void __launch_bounds__(128, 1)
backward_warp(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
              long long d_row, long long d_column, const T *__restrict__ gamma, const Wide *__restrict__ rstd,
              T *__restrict__ dx, Wide *__restrict__ parts, long long rows, int dim) {
  extern __shared__ __align__(16) unsigned char memory[];
  Wide *sums = reinterpret_cast<Wide *>(memory);
  Wide dgamma[K * V] = {};
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows; row += (long long)gridDim.x * blockDim.y)
    backward_row<T, V, 32, K>(Row<T, V>{x + row * x_row, x_column}, Row<T, V>{d + row * d_row, d_column}, gamma,
                              dx + row * dim, rstd[row], dim, nullptr, dgamma);
  for (int warp = 0; warp < blockDim.y; warp++) {
    if (threadIdx.y == warp) {
      #pragma unroll
      for (int k = 0; k < K; k++) {
        const int pack = threadIdx.x + k * 32;
        if (pack < dim / V) {
          #pragma unroll
          for (int j = 0; j < V; j++) {
            const int column = pack * V + j;
            sums[column] = warp ? sums[column] + dgamma[k * V + j] : dgamma[k * V + j];
          }
        }
      }
    }
    __syncthreads();
  }
  for (int column = threadIdx.y * 32 + threadIdx.x; column < dim; column += 32 * blockDim.y)
    parts[blockIdx.x * (long long)dim + column] = sums[column];
}

// A block per row, likewise.
template <typename T, int V, int THREADS, int K>
__global__ void __launch_bounds__(THREADS, 1)
backward_block(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
               long long d_row, long long d_column, const T *__restrict__ gamma, const Wide *__restrict__ rstd,
               T *__restrict__ dx, Wide *__restrict__ parts, long long rows, int dim) {
  __shared__ Wide scratch[2][32];
  Wide dgamma[K * V] = {};
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1)
    backward_row<T, V, THREADS, K>(Row<T, V>{x + row * x_row, x_column}, Row<T, V>{d + row * d_row, d_column}, gamma,
                                   dx + row * dim, rstd[row], dim, scratch[turn], dgamma);
  Pack<Wide, V> *out = reinterpret_cast<Pack<Wide, V> *>(parts + blockIdx.x * (long long)dim);
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < dim / V) {
      Pack<Wide, V> sums;
      #pragma unroll
      for (int j = 0; j < V; j++) sums.at[j] = dgamma[k * V + j];
      out[pack] = sums;
    }
  }
}

// Rows of any length: dx alone, x and d read twice. dgamma is left to `columns`.
template <typename T, int V, int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
backward_long(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
              long long d_row, long long d_column, const T *__restrict__ gamma, const Wide *__restrict__ rstd,
              T *__restrict__ dx, long long rows, int dim) {
  __shared__ Wide scratch[2][32];
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const int packs = dim / V;
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    const Row<T, V> xs = {x + row * x_row, x_column}, ds = {d + row * d_row, d_column};
    const Wide scale = rstd[row];
    Wide dot = 0;
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> a = xs[pack], b = ds[pack], g = gammas[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) dot += wide(b.at[j]) * wide(g.at[j]) * (wide(a.at[j]) * scale);
    }
    const Wide mean = block_sum<THREADS>(dot, scratch[turn]) / dim;
    Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(dx + row * dim);
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> a = xs[pack], b = ds[pack], g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++)
        result.at[j] = narrow<T>((wide(b.at[j]) * wide(g.at[j]) - wide(a.at[j]) * scale * mean) * scale);
      out[pack] = result;
    }
  }
}

// The terms of dgamma by columns: each block adds a band of rows for 32 columns, one row of `parts`
// per band. blockDim = (32, 8), gridDim = (column tiles, bands).
template <typename T>
__global__ void __launch_bounds__(256, 1)
columns(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d, long long d_row,
        long long d_column, const Wide *__restrict__ rstd, Wide *__restrict__ parts, long long rows, int dim) {
  __shared__ Wide sums[8][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  Wide sum = 0;
  if (column < dim)
    for (long long row = blockIdx.y * 8ll + threadIdx.y; row < rows; row += gridDim.y * 8ll)
      sum += wide(d[row * d_row + column * d_column]) * (wide(x[row * x_row + column * x_column]) * rstd[row]);
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < dim) {
    for (int other = 1; other < 8; other++) sum += sums[other][threadIdx.x];
    parts[blockIdx.y * (long long)dim + column] = sum;
  }
}

// dgamma from its parts, added in the order of the blocks: the same bits each time.
template <typename T>
__global__ void __launch_bounds__(256, 1)
add_parts(const Wide *__restrict__ parts, T *__restrict__ dgamma, int count, int dim) {
  for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < dim; column += gridDim.x * blockDim.x) {
    Wide sum = 0;
    for (int part = 0; part < count; part++) sum += parts[part * (long long)dim + column];
    dgamma[column] = narrow<T>(sum);
  }
}
