"""Launches count what they move, and how a warp's accesses coalesce."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from gpu_worker.cupy_cpu.executor import Access, Counters, unwritten_output
from gpu_worker.cupy_cpu.executor.report import Order
from gpu_worker.tests.cuda.executor import Executor, kernel

SOURCE = r"""
extern "C" __global__ void strided(const float *x, float *y, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * step];
}
extern "C" __global__ void squared(const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] * x[i];
}
extern "C" __global__ void columns(float *y, int pad) {
  extern __shared__ float s[];
  s[threadIdx.x * (32 + pad)] = threadIdx.x;
  y[threadIdx.x] = s[threadIdx.x * (32 + pad)];
}
extern "C" __global__ void turned(const float *x, float4 *y, int lanes) {
  float sum = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < 32; j++) sum += x[(j + threadIdx.x / lanes) % 32];
  y[threadIdx.x] = make_float4(sum, 0, 0, 0);
}
struct Four { float v[4]; };
struct __align__(16) Whole { float v[4]; };
struct Eight { float4 v[2]; };
extern "C" __global__ void structures(const float4 *a, float4 *b, const float3 *c, float3 *d, const Four *e, Four *f,
                                      const Whole *g, Whole *h, const Eight *k, Eight *l) {
  int i = threadIdx.x;
  b[i] = a[i]; d[i] = c[i]; f[i] = e[i]; h[i] = g[i]; l[i] = k[i];
}
extern "C" __global__ void widening(const float *x, float *y, int step) {
  const float *at = x + step * threadIdx.x;
  float head = *(volatile const float *)at;
  float4 all = *(const float4 *)at;
  y[threadIdx.x] = head + all.w + *(volatile const float *)at;
}
extern "C" __global__ void parts(const float *x, float *y) {
  float held[4] = {};
  memcpy(held, x, threadIdx.x % 2 ? 16 : 4);
  y[threadIdx.x] = held[3];
}
extern "C" __global__ void alone(const float *x, float *y) {
  float sum = x[blockIdx.x / 2];
  __syncthreads();
  y[blockIdx.x] = sum + x[blockIdx.x / 2];
}
extern "C" __global__ void rows(const float *x, float *y, int n, int step) {
  float sum = 0;
  for (int j = 0; j < n; j++) sum += x[j * blockDim.x + step * threadIdx.x];
  y[threadIdx.x] = sum;
}
"""


def access(counters: Counters, line: int, *, write: bool, space: str = "global") -> Access:
    return next(
        item
        for item in counters.accesses
        if item.line == line and item.write == write and item.space == space
    )


def test_bytes_are_counted_per_launch_and_per_array() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(256)), executor.empty(256)

    counters = executor.launch(kernel(SOURCE, "squared"), (4,), (64,), (x, y)).counters

    assert (counters.global_bytes_read, counters.global_bytes_written) == (1024, 1024)
    assert [(a.place, a.label, a.bytes_read, a.bytes_written) for a in counters.arrays] == [
        (0, "x", 1024, 0),
        (1, "y", 0, 1024),
    ]


def test_bytes_are_counted_per_member_of_a_structure() -> None:
    source = """struct Arrays { const float *x; float *y; int n; };
extern "C" __global__ void copied(Arrays a) {
  for (int i = 0; i < a.n; i++) a.y[i] = a.x[0];
}"""
    executor = Executor()
    x, y = executor.array([1]), executor.empty(2)
    members = np.dtype([("x", "u8"), ("y", "u8"), ("n", "i4")], align=True)
    given = np.array((x.block.address, y.block.address, 2), members)[()]

    counters = executor.launch(kernel(source, "copied"), (2,), (1,), (given,)).counters

    assert [(a.place, a.label, a.bytes_read, a.bytes_written) for a in counters.arrays] == [
        (0, "a.x", 16, 0),
        (0, "a.y", 0, 16),
    ]


HALVES = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__device__ float wide(__half x) { return __half2float(x); }
__device__ float wide(__nv_bfloat16 x) { return __bfloat162float(x); }
template <typename T> __device__ T narrow(float x);
template <> __device__ __half narrow(float x) { return __float2half(x); }
template <> __device__ __nv_bfloat16 narrow(float x) { return __float2bfloat16(x); }
template <typename T> __global__ void pairs(const T *x, const T *g, T *y, int n) {
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = narrow<T>(wide(x[i]) * wide(g[i]));
  if (i + 1 < n) y[i + 1] = narrow<T>(wide(x[i + 1]) * wide(g[i + 1]));
}
template <typename T> __device__ T power(T x, int n) { return n == 1 ? x : x * power(x, n - 1); }
template <typename T> __global__ void cubes(const T *x, const T *g, T *y, int n) {
  int i = 2 * threadIdx.x;
  y[i] = power(x[i], 3);
  y[i + 1] = power(g[i + 1], 3);
}
"""


@pytest.mark.parametrize("name", ["__half", "__nv_bfloat16"])
def test_each_half_of_several_per_thread_is_counted(name: str) -> None:
    executor = Executor()
    dtype = ml_dtypes.bfloat16 if "bfloat" in name else np.float16
    x, g = executor.array(np.ones(128), dtype), executor.array(np.ones(128), dtype)
    y = executor.empty(128, dtype)

    pairs = executor.launch(kernel(HALVES, f"pairs<{name}>"), (2,), (32,), (x, g, y, np.int32(128)))

    assert pairs.diagnostics == []
    assert unwritten_output("y", y.block, 2) is None
    assert (pairs.counters.global_bytes_read, pairs.counters.global_bytes_written) == (512, 256)
    assert [a.bytes_read for a in pairs.counters.arrays] == [256, 256, 0]


@pytest.mark.parametrize("name", ["__half", "__nv_bfloat16"])
def test_halves_passed_through_a_recursive_function_are_counted(name: str) -> None:
    executor = Executor()
    dtype = ml_dtypes.bfloat16 if "bfloat" in name else np.float16
    x, g = executor.array(np.full(64, 2), dtype), executor.array(np.full(64, 3), dtype)
    y = executor.empty(64, dtype)

    cubes = executor.launch(kernel(HALVES, f"cubes<{name}>"), (1,), (32,), (x, g, y, np.int32(64)))

    assert y.host[:2].astype(float).tolist() == [8, 27]
    assert (cubes.counters.global_bytes_read, cubes.counters.global_bytes_written) == (128, 128)


@pytest.mark.parametrize("name", ["__half2", "__nv_bfloat162"])
def test_pairs_of_halves_are_one_access(name: str) -> None:
    executor = Executor()
    dtype = ml_dtypes.bfloat16 if "bfloat" in name else np.float16
    source = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename P> __global__ void swapped(const P *x, P *y) {
  P pair = x[threadIdx.x];
  y[threadIdx.x] = P(pair.y, pair.x);
}"""
    x, y = executor.array(np.arange(64), dtype), executor.empty(64, dtype)

    report = executor.launch(kernel(source, f"swapped<{name}>"), (1,), (32,), (x, y))

    assert report.diagnostics == []
    assert y.host[:4].astype(float).tolist() == [1, 0, 3, 2]
    for line, write in ((4, False), (5, True)):
        made = access(report.counters, line, write=write)
        assert (made.bytes, made.requests, made.sectors, made.ideal_sectors) == (128, 1, 4, 4)


def test_strided_accesses_cost_sectors() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(64 * 8)), executor.empty(64)

    together = executor.launch(kernel(SOURCE, "strided"), (1,), (64,), (x, y, np.int32(1))).counters
    apart = executor.launch(kernel(SOURCE, "strided"), (1,), (64,), (x, y, np.int32(8))).counters

    ideal, scattered = access(together, 4, write=False), access(apart, 4, write=False)
    assert (ideal.requests, ideal.sectors, ideal.ideal_sectors) == (2, 8, 8)
    assert (scattered.requests, scattered.sectors, scattered.ideal_sectors) == (2, 64, 8)


@pytest.mark.parametrize(
    ("threads", "step", "used"),
    [(1, 1, (16, 2)), (2, 1, (16, 4)), (8, 1, (16, 16)), (32, 1, (64, 64)), (32, 0, (16, 16))],
)
def test_lanes_are_measured_by_what_they_access_together(
    threads: int, step: int, used: tuple[int, int]
) -> None:
    """A lane alone moves a sector for each element; a value for all lanes is worth its own."""
    executor = Executor()
    x, y = executor.array(np.zeros(512)), executor.empty(32)

    counters = executor.launch(
        kernel(SOURCE, "rows"), (1,), (threads,), (x, y, np.int32(16), np.int32(step))
    ).counters

    line = SOURCE[: SOURCE.index("x[j * blockDim.x")].count("\n") + 1
    read = access(counters, line, write=False)
    assert (read.sectors, read.ideal_sectors) == used
    assert (read.requests, read.bytes) == (16, 16 * 4 * threads)


def test_an_address_read_by_a_whole_warp_is_moved_once() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(64 * 8)), executor.empty(64)

    same = executor.launch(kernel(SOURCE, "strided"), (1,), (64,), (x, y, np.int32(0))).counters

    assert [(a.bytes_read, a.reads, a.writes) for a in same.arrays] == [(8, 2, 0), (0, 0, 64)]
    assert access(same, 4, write=False).bytes == 256


@pytest.mark.parametrize("order", ["forward", "reverse"])
@pytest.mark.parametrize(("lanes", "reads"), [(32, 1), (16, 2), (1, 32)])
def test_lanes_that_read_in_turn_are_counted_separately(
    order: Order, lanes: int, reads: int
) -> None:
    executor = Executor()
    x, y = executor.array(np.arange(32)), executor.empty(256)
    arguments = (x, y, np.int32(lanes))

    read, written = executor.launch(
        kernel(SOURCE, "turned"), (2,), (64,), arguments, order=order
    ).counters.arrays

    # Two blocks of two warps take 64 values in turn; a second pass is moved again.
    assert (read.reads, read.bytes_read) == (4 * 64 * reads, 4 * 4 * 64 * reads)
    assert (written.writes, written.bytes_written) == (128, 128 * 16)


def test_a_read_hides_neither_a_wider_one_nor_a_later_one() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(128)), executor.empty(32)
    each = executor.launch(kernel(SOURCE, "widening"), (1,), (32,), (x, y, np.int32(4))).counters
    same = executor.launch(kernel(SOURCE, "widening"), (1,), (32,), (x, y, np.int32(0))).counters
    parts = executor.launch(kernel(SOURCE, "parts"), (1,), (32,), (x, y)).counters
    alone = executor.launch(kernel(SOURCE, "alone"), (4,), (1,), (x, y)).counters
    read = [(item.arrays[0].bytes_read, item.arrays[0].reads) for item in (each, parts, alone)]
    assert read == [(32 * (4 + 16), 64), (4 + 16, 2), (4 * 2 * 4, 8)]
    # Between the other lanes' reads the last one is again one of all.
    assert same.arrays[0].bytes_read == 4 + 16


def test_a_structure_is_moved_in_parts_of_its_alignment() -> None:
    executor = Executor()
    kinds = {
        "float4": (16, 16),
        "float3": (12, 4),
        "Four": (16, 4),
        "Whole": (16, 16),
        "Eight": (32, 16),
    }
    arrays = [make for _ in kinds for make in (executor.array(np.zeros(256)), executor.empty(256))]

    moved = executor.launch(kernel(SOURCE, "structures"), (1,), (32,), arrays).counters.arrays

    for (size, at_once), read, written in zip(kinds.values(), moved[::2], moved[1::2], strict=True):
        assert (read.bytes_read, written.bytes_written) == (32 * size, 32 * size)
        assert (read.reads, written.writes) == (32 * size // at_once,) * 2


def test_columns_of_a_tile_conflict_unless_they_are_padded() -> None:
    executor = Executor()
    y = executor.empty(32)

    plain = executor.launch(kernel(SOURCE, "columns"), (1,), (32,), (y, np.int32(0)), 4096).counters
    padded = executor.launch(
        kernel(SOURCE, "columns"), (1,), (32,), (y, np.int32(1)), 4224
    ).counters

    assert access(plain, 12, write=True, space="shared").bank_conflicts == 31
    assert access(padded, 12, write=True, space="shared").bank_conflicts == 0


def test_counters_add_up_and_survive_json() -> None:
    executor = Executor()
    x, y = executor.array(np.arange(256)), executor.empty(256)
    one = executor.launch(kernel(SOURCE, "squared"), (4,), (64,), (x, y)).counters

    both = one + one

    assert (both.launches, both.global_bytes_read) == (2, 2048)
    assert len(both.accesses) == len(one.accesses)
    assert Counters.from_dict(both.as_dict()) == both
