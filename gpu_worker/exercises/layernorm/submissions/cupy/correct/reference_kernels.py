# outcome: accepted
# From kernels.cu, launch.py and fused_cupy.py, with row_launch.py and cupy_rows.py.

from __future__ import annotations
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import cupy as cp
import math
import numpy as np


@dataclass(frozen=True, slots=True)
class Rows:
    """An array (..., D) as `count` rows; `row_step` and `column_step` count elements.

    `array` is what must be kept while a kernel uses it.
    """

    array: Any
    count: int
    row_step: int
    column_step: int


def as_rows(array: Any) -> Rows:
    """Return the rows of an array (..., D), without a copy where one distance leads from each row
    to the next, also a negative one or zero.
    """
    *leading, dim = array.shape
    *steps, column = (stride // array.itemsize for stride in array.strides)
    count = math.prod(leading)
    step = _common_step(leading, steps)
    if step is None:
        return Rows(cp.ascontiguousarray(array), count, dim, 1)
    return Rows(array, count, step, column if dim > 1 else 1)


def _common_step(shape: list[int], steps: list[int]) -> int | None:
    """Return the distance between rows, None if there are several; any will do for one row."""
    found: int | None = None
    expected = 0
    for size, step in zip(reversed(shape), reversed(steps), strict=True):
        if size == 1:
            continue
        if found is None:
            found, expected = step, step * size
        elif step == expected:
            expected = step * size
        else:
            return None
    return found or 0


C_TYPES: Final = {
    "float32": "float",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float64": "double",
}
ITEM_BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
PACK_BYTES: Final = 16
WARP: Final = 32
ROWS_PER_BLOCK: Final = 4
"""Warps of a block, where each warp has a row of its own."""
LONG_THREADS: Final = 512
COLUMN_BLOCK: Final = (32, 8)
ADDING_THREADS: Final = 256
PERSISTENT_BLOCKS: Final = 264
"""Two blocks for each of the 132 multiprocessors of an H100 or H200. A constant, so that dgamma is
added in one order on every device."""
COLUMN_BANDS: Final = 32
MOST_BLOCKS: Final = 2**31 - 1

FORWARD_WARP: Final = (1, 2, 4, 8)
"""Packs per thread of the kernels with a warp per row."""
BACKWARD_WARP: Final = (1, 2, 4)
"""Packs per thread of the backward kernels; float64 goes to a block per row sooner."""

Table = tuple[tuple[int, int], ...]
"""(threads, packs per thread) of kernels with a block per row, for shorter rows first."""
FORWARD_BLOCK: Final = ((128, 4), (256, 4), (512, 4), (1024, 4), (1024, 8))
FORWARD_BLOCK_SINGLE: Final = ((128, 8), (512, 8), (1024, 8))
"""For rows that are taken by single elements."""
BACKWARD_BLOCK: Final = ((128, 2), (128, 4), (256, 4), (512, 4))
BACKWARD_BLOCK_SINGLE: Final = ((128, 8), (512, 8))


@dataclass(frozen=True, slots=True)
class Plan:
    """One launch: the kernel's name expression, grid, block, bytes of dynamic shared memory."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int = 0


def pack_size(
    dtype: str, dim: int, row_steps: tuple[int, ...], column_steps: tuple[int, ...], address: int
) -> int:
    """Return how many elements go at once: 16 bytes' worth, or 1 where not all fits.

    `row_steps` and `column_steps` are distances in elements of all arrays that are read;
    `address` is all their addresses, combined by `|`.
    """
    pack = PACK_BYTES // ITEM_BYTES[dtype]
    whole = dim % pack == 0 and all(step % pack == 0 for step in row_steps)
    if whole and address % PACK_BYTES == 0 and all(step == 1 for step in column_steps):
        return pack
    return 1


def sum_bytes(dtype: str) -> int:
    """Return the size of the type that sums are kept in."""
    return 8 if dtype == "float64" else 4


@dataclass(frozen=True, slots=True)
class RowLaunches:
    """The launches of one exercise.

    `forward_block` and `backward_block` give the table for a dtype and a size of packs: one of
    those above, without its last entry where a thread cannot keep that many numbers and the
    compiler would put some of them into device memory. `parameters` counts what is of length D and
    has a gradient; `kept` the numbers that forward keeps of each row for backward.
    """

    forward_block: Callable[[str, int], Table]
    backward_block: Callable[[str, int], Table]
    parameters: int
    kept: int

    def forward(self, dtype: str, rows: int, dim: int, pack: int) -> Plan:
        """Return the launch of the forward pass over `rows` > 0 rows of length `dim`."""
        kind = f"{C_TYPES[dtype]}, {pack}"
        packs = dim // pack
        for each in FORWARD_WARP:
            if packs <= WARP * each:
                grid = min(-(-rows // ROWS_PER_BLOCK), MOST_BLOCKS)
                return Plan(f"forward_warp<{kind}, {each}>", (grid,), (WARP, ROWS_PER_BLOCK))
        for threads, each in self.forward_block(dtype, pack):
            if packs <= threads * each:
                name = f"forward_block<{kind}, {threads}, {each}>"
                return Plan(name, (min(rows, MOST_BLOCKS),), (threads,))
        return _long("forward", kind, rows)

    def backward(self, dtype: str, rows: int, dim: int, pack: int) -> Plan:
        """Return the launch of the backward pass; it makes grid[0] parts of each gradient.

        `backward_long` makes none: `columns` does.
        """
        kind = f"{C_TYPES[dtype]}, {pack}"
        packs = dim // pack
        for each in _backward_warp(dtype):
            if packs <= WARP * each:
                grid = min(-(-rows // ROWS_PER_BLOCK), PERSISTENT_BLOCKS)
                name = f"backward_warp<{kind}, {each}>"
                return Plan(name, (grid,), (WARP, ROWS_PER_BLOCK), dim * sum_bytes(dtype))
        for threads, each in self.backward_block(dtype, pack):
            if packs <= threads * each:
                name = f"backward_block<{kind}, {threads}, {each}>"
                return Plan(name, (min(rows, PERSISTENT_BLOCKS),), (threads,))
        return _long("backward", kind, rows)

    def columns(self, dtype: str, rows: int, dim: int) -> Plan:
        """Return the launch that makes the parts for long rows: grid[1] of each gradient."""
        bands = min(-(-rows // COLUMN_BLOCK[1]), COLUMN_BANDS)
        grid = (-(-dim // COLUMN_BLOCK[0]), bands)
        return Plan(f"columns<{C_TYPES[dtype]}>", grid, COLUMN_BLOCK)

    def add_parts(self, dtype: str, dim: int) -> Plan:
        """Return the launch that adds the parts of all gradients."""
        grid = (-(-dim // ADDING_THREADS), self.parameters)
        return Plan(f"add_parts<{C_TYPES[dtype]}>", grid, (ADDING_THREADS,))

    def instances(self, dtype: str) -> tuple[str, ...]:
        """Return the name expressions of all kernels that a dtype can come to need."""
        own = C_TYPES[dtype]
        names = [f"columns<{own}>", f"add_parts<{own}>"]
        for pack in (PACK_BYTES // ITEM_BYTES[dtype], 1):
            kind = f"{own}, {pack}"
            names += [f"forward_warp<{kind}, {each}>" for each in FORWARD_WARP]
            names += _of_blocks("forward", kind, self.forward_block(dtype, pack))
            names += [f"backward_warp<{kind}, {each}>" for each in _backward_warp(dtype)]
            names += _of_blocks("backward", kind, self.backward_block(dtype, pack))
            names += [f"{way}_long<{kind}, {LONG_THREADS}>" for way in ("forward", "backward")]
        return tuple(names)

    def together(self, dtype: str, kernel: str) -> tuple[str, ...]:
        """Return the instances that are best compiled with one of them, so that a program builds
        few modules, none that it does not need, and none that takes a compiler long: all for short
        rows in equal packs, or for longer ones one way.
        """
        return tuple(name for name in self.instances(dtype) if _module(name) == _module(kernel))

    def next_to(self, dtype: str, kernel: str) -> tuple[str, ...]:
        """Return the instances that are needed after one of the forward pass: those of the backward
        pass over such rows.
        """
        return self.together(dtype, kernel.replace("forward", "backward"))

    def for_short_rows(self, dtype: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the instances that any program needs, as two modules."""
        in_packs = self.forward(dtype, 1, 1, PACK_BYTES // ITEM_BYTES[dtype])
        return (
            self.together(dtype, in_packs.kernel),
            self.together(dtype, self.add_parts(dtype, 1).kernel),
        )

    def least_bytes(self, dtype: str, rows: int, dim: int) -> dict[str, int]:
        """Return the bytes that must be moved at least: `forward`, `backward`.

        With s bytes per element, w per sum, P parameters, K numbers kept of each row, and G blocks
        of the backward kernel, at most `PERSISTENT_BLOCKS`:

            forward    2*N*D*s + P*D*s + K*w*N      read x, write y; parameters once; what is kept
            backward   3*N*D*s + D*s + K*w*N        read x and dout, write dx; gamma; what is kept
                       + 2*P*w*G*D + P*D*s          parts of gradients, written and read; the sums
        """
        item, sums = ITEM_BYTES[dtype], sum_bytes(dtype)
        array, vector, kept = rows * dim * item, dim * item, self.kept * sums * rows
        plan = self.backward(dtype, max(rows, 1), dim, pack_size(dtype, dim, (dim,), (1,), 0))
        is_long = "long" in plan.kernel
        parts = self.columns(dtype, max(rows, 1), dim).grid[1] if is_long else plan.grid[0]
        gradients = self.parameters * (2 * sums * parts * dim + vector)
        return {
            "forward": 2 * array + self.parameters * vector + kept,
            "backward": 3 * array + vector + kept + gradients,
        }


def _long(way: str, kind: str, rows: int) -> Plan:
    """Return the launch over rows too long for registers."""
    name = f"{way}_long<{kind}, {LONG_THREADS}>"
    return Plan(name, (min(rows, MOST_BLOCKS),), (LONG_THREADS,))


def _of_blocks(way: str, kind: str, table: Table) -> list[str]:
    return [f"{way}_block<{kind}, {threads}, {each}>" for threads, each in table]


def _backward_warp(dtype: str) -> tuple[int, ...]:
    return BACKWARD_WARP[:-1] if dtype == "float64" else BACKWARD_WARP


def _module(kernel: str) -> tuple[str, str]:
    """Return the way of an instance, empty for short rows, and the size of its packs. What knows no
    packs is with short rows of single elements.
    """
    way, _, rest = kernel.partition("<")
    pack = rest.split(", ")[1] if ", " in rest else "1"
    return way.partition("_")[0] if way.endswith(("_block", "_long")) else "", pack


def _forward_block(dtype: str, pack: int) -> Table:
    if pack == 1:
        return FORWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else FORWARD_BLOCK_SINGLE
    return FORWARD_BLOCK if dtype == "float32" else FORWARD_BLOCK[:-1]


def _backward_block(dtype: str, pack: int) -> Table:
    if pack == 1:
        return BACKWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else BACKWARD_BLOCK_SINGLE
    return BACKWARD_BLOCK[:-1] if ITEM_BYTES[dtype] == 2 else BACKWARD_BLOCK


LAUNCHES: Final = RowLaunches(_forward_block, _backward_block, parameters=2, kept=2)


SOURCE: Final = r"""
// LayerNorm, forward and backward. The rules for launching are in launch.py beside this file.
//
//   mean = mean(x)    rstd = 1 / sqrt(mean((x - mean)**2) + eps)    xhat = (x - mean) * rstd
//   y = xhat * gamma + beta    dgamma = sum over rows of d * xhat    dbeta = sum over rows of d
//   dx = (g - mean(g) - xhat * mean(g * xhat)) * rstd    with g = d * gamma
//
// The variance is that of centred numbers, in a second sum over what registers hold: subtracting
// the squared mean from the mean square would lose all digits where the mean is large.
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

// Two sums with one barrier.
template <int THREADS, typename A> __device__ __forceinline__ void block_sums(A &first, A &second, A (*scratch)[32]) {
  first = warp_sum(first);
  second = warp_sum(second);
  if (THREADS == 32) return;
  const int lane = threadIdx.x & 31;
  if (lane == 0) {
    scratch[0][threadIdx.x >> 5] = first;
    scratch[1][threadIdx.x >> 5] = second;
  }
  __syncthreads();
  first = warp_sum(lane < THREADS / 32 ? scratch[0][lane] : A(0));
  second = warp_sum(lane < THREADS / 32 ? scratch[1][lane] : A(0));
}

// --- forward -----------------------------------------------------------------------------------
// What forward keeps of each row, for backward: an array of them, of shape (rows, 2).
template <typename A> struct alignas(2 * sizeof(A)) Kept { A mean, rstd; };

// One row by THREADS threads: registers from first to last.
template <typename T, int V, int THREADS, int K>
__device__ __forceinline__ void forward_row(Row<T, V> x, const T *__restrict__ gamma, const T *__restrict__ beta,
                                            T *__restrict__ y, Kept<Wide> *kept, int dim, Wide eps,
                                            Wide (*scratch)[32]) {
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const Pack<T, V> *betas = reinterpret_cast<const Pack<T, V> *>(beta);
  Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(y);
  const int packs = dim / V;
  Pack<T, V> values[K];
  Wide sum = 0, squares = 0;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) values[k] = x[pack];
  }
  #pragma unroll
  for (int k = 0; k < K; k++) {
    if (threadIdx.x + k * THREADS < packs) {
      #pragma unroll
      for (int j = 0; j < V; j++) sum += wide(values[k].at[j]);
    }
  }
  const Wide mean = block_sum<THREADS>(sum, scratch[0]) / dim;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    if (threadIdx.x + k * THREADS < packs) {
      #pragma unroll
      for (int j = 0; j < V; j++) squares += (wide(values[k].at[j]) - mean) * (wide(values[k].at[j]) - mean);
    }
  }
  const Wide scale = rsqrt(block_sum<THREADS>(squares, scratch[1]) / dim + eps);
  if (threadIdx.x == 0) *kept = Kept<Wide>{mean, scale};
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      const Pack<T, V> g = gammas[pack], b = betas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++)
        result.at[j] = narrow<T>((wide(values[k].at[j]) - mean) * scale * wide(g.at[j]) + wide(b.at[j]));
      out[pack] = result;
    }
  }
}

// A warp per row: short rows. blockDim = (32, rows of a block).
template <typename T, int V, int K>
__global__ void __launch_bounds__(128, 1)
forward_warp(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
             const T *__restrict__ beta, T *__restrict__ y, Kept<Wide> *__restrict__ kept, long long rows, int dim,
             Wide eps) {
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows; row += (long long)gridDim.x * blockDim.y)
    forward_row<T, V, 32, K>(Row<T, V>{x + row * x_row, x_column}, gamma, beta, y + row * dim, kept + row, dim, eps,
                             static_cast<Wide(*)[32]>(nullptr));
}

// A block per row: rows that fit into its registers.
template <typename T, int V, int THREADS, int K>
__global__ void __launch_bounds__(THREADS, 1)
forward_block(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
              const T *__restrict__ beta, T *__restrict__ y, Kept<Wide> *__restrict__ kept, long long rows, int dim,
              Wide eps) {
  __shared__ Wide scratch[2][2][32];
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1)
    forward_row<T, V, THREADS, K>(Row<T, V>{x + row * x_row, x_column}, gamma, beta, y + row * dim, kept + row, dim,
                                  eps, scratch[turn]);
}

// Rows of any length: read three times, after the first from the cache where it holds them.
template <typename T, int V, int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
forward_long(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ gamma,
             const T *__restrict__ beta, T *__restrict__ y, Kept<Wide> *__restrict__ kept, long long rows, int dim,
             Wide eps) {
  __shared__ Wide scratch[2][2][32];
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const Pack<T, V> *betas = reinterpret_cast<const Pack<T, V> *>(beta);
  const int packs = dim / V;
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    const Row<T, V> values = {x + row * x_row, x_column};
    Wide sum = 0, squares = 0;
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> v = values[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) sum += wide(v.at[j]);
    }
    const Wide mean = block_sum<THREADS>(sum, scratch[turn][0]) / dim;
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> v = values[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) squares += (wide(v.at[j]) - mean) * (wide(v.at[j]) - mean);
    }
    const Wide scale = rsqrt(block_sum<THREADS>(squares, scratch[turn][1]) / dim + eps);
    if (threadIdx.x == 0) kept[row] = Kept<Wide>{mean, scale};
    Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(y + row * dim);
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> v = values[pack], g = gammas[pack], b = betas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++)
        result.at[j] = narrow<T>((wide(v.at[j]) - mean) * scale * wide(g.at[j]) + wide(b.at[j]));
      out[pack] = result;
    }
  }
}

// --- backward ----------------------------------------------------------------------------------
// One row by THREADS threads: dx, and this row's terms of dgamma and dbeta added to those in registers.
template <typename T, int V, int THREADS, int K>
__device__ __forceinline__ void backward_row(Row<T, V> x, Row<T, V> d, const T *__restrict__ gamma,
                                             T *__restrict__ dx, Kept<Wide> kept, int dim, Wide (*scratch)[32],
                                             Wide (&dgamma)[K * V], Wide (&dbeta)[K * V]) {
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const int packs = dim / V;
  Pack<T, V> xs[K], ds[K];
  Wide sum = 0, dot = 0;
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
        const Wide gradient = wide(ds[k].at[j]), xhat = (wide(xs[k].at[j]) - kept.mean) * kept.rstd;
        dgamma[k * V + j] += gradient * xhat;
        dbeta[k * V + j] += gradient;
        sum += gradient * wide(g.at[j]);
        dot += gradient * wide(g.at[j]) * xhat;
      }
    }
  }
  block_sums<THREADS>(sum, dot, scratch);
  const Wide mean = sum / dim, projection = dot / dim;
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < packs) {
      const Pack<T, V> g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++) {
        const Wide xhat = (wide(xs[k].at[j]) - kept.mean) * kept.rstd;
        result.at[j] = narrow<T>((wide(ds[k].at[j]) * wide(g.at[j]) - mean - xhat * projection) * kept.rstd);
      }
      reinterpret_cast<Pack<T, V> *>(dx)[pack] = result;
    }
  }
}

// A warp per row; blocks stay and take row after row. Each block leaves one row of `parts`, of
// shape (2, gridDim.x, dim), dgamma's and dbeta's: its warps' sums in the order of the warps.
// Dynamic shared memory: dim sums.
template <int V, int K, typename A>
__device__ __forceinline__ void leave_part(const A (&own)[K * V], A *sums, A *part, int dim) {
  for (int warp = 0; warp < blockDim.y; warp++) {
    if (threadIdx.y == warp) {
      #pragma unroll
      for (int k = 0; k < K; k++) {
        const int pack = threadIdx.x + k * 32;
        if (pack < dim / V) {
          #pragma unroll
          for (int j = 0; j < V; j++) {
            const int column = pack * V + j;
            sums[column] = warp ? sums[column] + own[k * V + j] : own[k * V + j];
          }
        }
      }
    }
    __syncthreads();
  }
  for (int column = threadIdx.y * 32 + threadIdx.x; column < dim; column += 32 * blockDim.y) part[column] = sums[column];
}

template <typename T, int V, int K>
__global__ void __launch_bounds__(128, 1)
backward_warp(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
              long long d_row, long long d_column, const T *__restrict__ gamma, const Kept<Wide> *__restrict__ kept,
              T *__restrict__ dx, Wide *__restrict__ parts, long long rows, int dim) {
  extern __shared__ __align__(16) unsigned char memory[];
  Wide *sums = reinterpret_cast<Wide *>(memory);
  Wide dgamma[K * V] = {}, dbeta[K * V] = {};
  for (long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y; row < rows; row += (long long)gridDim.x * blockDim.y)
    backward_row<T, V, 32, K>(Row<T, V>{x + row * x_row, x_column}, Row<T, V>{d + row * d_row, d_column}, gamma,
                              dx + row * dim, kept[row], dim, static_cast<Wide(*)[32]>(nullptr), dgamma, dbeta);
  leave_part<V, K>(dgamma, sums, parts + blockIdx.x * (long long)dim, dim);
  __syncthreads();
  leave_part<V, K>(dbeta, sums, parts + (gridDim.x + blockIdx.x) * (long long)dim, dim);
}

// A block per row, likewise.
template <typename T, int V, int THREADS, int K>
__global__ void __launch_bounds__(THREADS, 1)
backward_block(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
               long long d_row, long long d_column, const T *__restrict__ gamma, const Kept<Wide> *__restrict__ kept,
               T *__restrict__ dx, Wide *__restrict__ parts, long long rows, int dim) {
  __shared__ Wide scratch[2][2][32];
  Wide dgamma[K * V] = {}, dbeta[K * V] = {};
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1)
    backward_row<T, V, THREADS, K>(Row<T, V>{x + row * x_row, x_column}, Row<T, V>{d + row * d_row, d_column}, gamma,
                                   dx + row * dim, kept[row], dim, scratch[turn], dgamma, dbeta);
  typedef Pack<Wide, V> Sums;
  Sums *gammas = reinterpret_cast<Sums *>(parts + blockIdx.x * (long long)dim);
  Sums *betas = reinterpret_cast<Sums *>(parts + (gridDim.x + blockIdx.x) * (long long)dim);
  #pragma unroll
  for (int k = 0; k < K; k++) {
    const int pack = threadIdx.x + k * THREADS;
    if (pack < dim / V) {
      Sums gamma_sums, beta_sums;
      #pragma unroll
      for (int j = 0; j < V; j++) {
        gamma_sums.at[j] = dgamma[k * V + j];
        beta_sums.at[j] = dbeta[k * V + j];
      }
      gammas[pack] = gamma_sums;
      betas[pack] = beta_sums;
    }
  }
}

// Rows of any length: dx alone, x and d read twice. dgamma and dbeta are left to `columns`.
template <typename T, int V, int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
backward_long(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d,
              long long d_row, long long d_column, const T *__restrict__ gamma, const Kept<Wide> *__restrict__ kept,
              T *__restrict__ dx, long long rows, int dim) {
  __shared__ Wide scratch[2][2][32];
  const Pack<T, V> *gammas = reinterpret_cast<const Pack<T, V> *>(gamma);
  const int packs = dim / V;
  int turn = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    const Row<T, V> xs = {x + row * x_row, x_column}, ds = {d + row * d_row, d_column};
    const Wide shift = kept[row].mean, scale = kept[row].rstd;
    Wide sum = 0, dot = 0;
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> a = xs[pack], b = ds[pack], g = gammas[pack];
      #pragma unroll
      for (int j = 0; j < V; j++) {
        const Wide weighted = wide(b.at[j]) * wide(g.at[j]);
        sum += weighted;
        dot += weighted * ((wide(a.at[j]) - shift) * scale);
      }
    }
    block_sums<THREADS>(sum, dot, scratch[turn]);
    const Wide mean = sum / dim, projection = dot / dim;
    Pack<T, V> *out = reinterpret_cast<Pack<T, V> *>(dx + row * dim);
    for (int pack = threadIdx.x; pack < packs; pack += THREADS) {
      const Pack<T, V> a = xs[pack], b = ds[pack], g = gammas[pack];
      Pack<T, V> result;
      #pragma unroll
      for (int j = 0; j < V; j++) {
        const Wide xhat = (wide(a.at[j]) - shift) * scale;
        result.at[j] = narrow<T>((wide(b.at[j]) * wide(g.at[j]) - mean - xhat * projection) * scale);
      }
      out[pack] = result;
    }
  }
}

// The terms of dgamma and dbeta by columns: each block adds a band of rows for 32 columns, one row
// of `parts` per band, of shape (2, bands, dim). blockDim = (32, 8), gridDim = (column tiles, bands).
template <typename T>
__global__ void __launch_bounds__(256, 1)
columns(const T *__restrict__ x, long long x_row, long long x_column, const T *__restrict__ d, long long d_row,
        long long d_column, const Kept<Wide> *__restrict__ kept, Wide *__restrict__ parts, long long rows, int dim) {
  __shared__ Wide sums[2][8][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  Wide dgamma = 0, dbeta = 0;
  if (column < dim) {
    for (long long row = blockIdx.y * 8ll + threadIdx.y; row < rows; row += gridDim.y * 8ll) {
      const Wide gradient = wide(d[row * d_row + column * d_column]);
      dgamma += gradient * ((wide(x[row * x_row + column * x_column]) - kept[row].mean) * kept[row].rstd);
      dbeta += gradient;
    }
  }
  sums[0][threadIdx.y][threadIdx.x] = dgamma;
  sums[1][threadIdx.y][threadIdx.x] = dbeta;
  __syncthreads();
  if (threadIdx.y == 0 && column < dim) {
    for (int other = 1; other < 8; other++) {
      dgamma += sums[0][other][threadIdx.x];
      dbeta += sums[1][other][threadIdx.x];
    }
    parts[blockIdx.y * (long long)dim + column] = dgamma;
    parts[(gridDim.y + blockIdx.y) * (long long)dim + column] = dbeta;
  }
}

// dgamma (blockIdx.y 0) and dbeta (1) from their parts, added in the order of the blocks: the same
// bits each time.
template <typename T>
__global__ void __launch_bounds__(256, 1)
add_parts(const Wide *__restrict__ parts, T *__restrict__ dgamma, T *__restrict__ dbeta, int count, int dim) {
  const Wide *own = parts + blockIdx.y * (long long)count * dim;
  T *out = blockIdx.y ? dbeta : dgamma;
  for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < dim; column += gridDim.x * blockDim.x) {
    Wide sum = 0;
    for (int part = 0; part < count; part++) sum += own[part * (long long)dim + column];
    out[column] = narrow<T>(sum);
  }
}
"""


@cache
def module_of(names: tuple[str, ...]) -> Any:
    """Return the module with these instances of the kernels, made once."""
    return cp.RawModule(code=SOURCE, options=("-std=c++17",), name_expressions=names)


# CuPy compiles a module when a kernel of it is first taken. Where modules are compiled as soon as
# they are made, those that any program needs are compiled side by side, and so are those of forward
# and backward over rows of one kind.
for _dtype in C_TYPES:
    for _names in LAUNCHES.for_short_rows(_dtype):
        module_of(_names)


def _run(dtype: str, plan: Plan, *arguments: Any) -> None:
    module = module_of(LAUNCHES.together(dtype, plan.kernel))
    module_of(LAUNCHES.next_to(dtype, plan.kernel))
    kernel = module.get_function(plan.kernel)
    kernel(plan.grid, plan.block, arguments, shared_mem=plan.shared_bytes)


class LayerNormScratch:
    """Centre rows and divide them by their standard deviation, in fused kernels."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)
        self.beta = cp.zeros(dim, dtype=cp.float32)
        self.dgamma: Any = None
        self.dbeta: Any = None

    def forward(self, x: Any) -> Any:
        """Return y (..., D) with the dtype of x (..., D), of any layout.

        x is kept for backward and must not change until then.
        """
        self.x = rows = as_rows(x)
        self.work = np.float64 if x.dtype == np.float64 else np.float32
        y = cp.empty(x.shape, x.dtype)
        self.kept = cp.empty((rows.count, 2), self.work)
        if rows.count:
            gamma, beta = (
                cp.ascontiguousarray(parameter.astype(x.dtype, copy=False))
                for parameter in (self.gamma, self.beta)
            )
            pack = pack_size(
                x.dtype.name, self.dim, (rows.row_step,), (rows.column_step,),
                rows.array.data.ptr | gamma.data.ptr | beta.data.ptr,
            )  # fmt: skip
            _run(
                x.dtype.name,
                LAUNCHES.forward(x.dtype.name, rows.count, self.dim, pack),
                *(rows.array, np.int64(rows.row_step), np.int64(rows.column_step), gamma, beta),
                *(y, self.kept, np.int64(rows.count), np.int32(self.dim), self.work(self.eps)),
            )
        return y

    def backward(self, dout: Any) -> Any:
        """Return dx (..., D); set dgamma and dbeta (D,) with the dtypes of their parameters."""
        x, d = self.x, as_rows(dout)
        dtype = dout.dtype.name
        dx = cp.empty(dout.shape, dout.dtype)
        if not x.count:
            self.dgamma = cp.zeros(self.dim, self.gamma.dtype)
            self.dbeta = cp.zeros(self.dim, self.beta.dtype)
            return dx
        gamma = cp.ascontiguousarray(self.gamma.astype(dout.dtype, copy=False))
        pack = pack_size(
            dtype, self.dim, (x.row_step, d.row_step), (x.column_step, d.column_step),
            x.array.data.ptr | d.array.data.ptr | gamma.data.ptr,
        )  # fmt: skip
        plan = LAUNCHES.backward(dtype, x.count, self.dim, pack)
        sources = (
            *(x.array, np.int64(x.row_step), np.int64(x.column_step)),
            *(d.array, np.int64(d.row_step), np.int64(d.column_step)),
        )
        sizes = (np.int64(x.count), np.int32(self.dim))
        if "long" in plan.kernel:
            _run(dtype, plan, *sources, gamma, self.kept, dx, *sizes)
            banded = LAUNCHES.columns(dtype, x.count, self.dim)
            parts = cp.empty((2, banded.grid[1], self.dim), self.work)
            _run(dtype, banded, *sources, self.kept, parts, *sizes)
        else:
            parts = cp.empty((2, plan.grid[0], self.dim), self.work)
            _run(dtype, plan, *sources, gamma, self.kept, dx, parts, *sizes)
        dgamma, dbeta = cp.empty(self.dim, dout.dtype), cp.empty(self.dim, dout.dtype)
        adding = LAUNCHES.add_parts(dtype, self.dim)
        _run(dtype, adding, parts, dgamma, dbeta, np.int32(parts.shape[1]), np.int32(self.dim))
        self.dgamma = dgamma.astype(self.gamma.dtype, copy=False)
        self.dbeta = dbeta.astype(self.beta.dtype, copy=False)
        return dx
