"""Launches count what they move, and how a warp's accesses fall together."""

from __future__ import annotations

import numpy as np

from gpu_worker.cuda_cpu.device import Access, Counters
from gpu_worker.tests.cuda.device import Device, kernel

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
"""


def access(counters: Counters, line: int, *, write: bool, space: str = "global") -> Access:
    return next(
        item
        for item in counters.accesses
        if item.line == line and item.write == write and item.space == space
    )


def test_bytes_are_counted_per_launch_and_per_array() -> None:
    device = Device()
    x, y = device.array(np.arange(256)), device.empty(256)

    counters = device.launch(kernel(SOURCE, "squared"), (4,), (64,), (x, y)).counters

    assert (counters.global_bytes_read, counters.global_bytes_written) == (1024, 1024)
    assert [(a.place, a.label, a.bytes_read, a.bytes_written) for a in counters.arrays] == [
        (0, "x", 1024, 0),
        (1, "y", 0, 1024),
    ]


def test_strides_cost_sectors() -> None:
    device = Device()
    x, y = device.array(np.arange(64 * 8)), device.empty(64)

    together = device.launch(kernel(SOURCE, "strided"), (1,), (64,), (x, y, np.int32(1))).counters
    apart = device.launch(kernel(SOURCE, "strided"), (1,), (64,), (x, y, np.int32(8))).counters

    ideal, scattered = access(together, 4, write=False), access(apart, 4, write=False)
    assert (ideal.requests, ideal.sectors, ideal.ideal_sectors) == (2, 8, 8)
    assert (scattered.requests, scattered.sectors, scattered.ideal_sectors) == (2, 64, 8)


def test_columns_of_a_tile_conflict_unless_they_are_padded() -> None:
    device = Device()
    y = device.empty(32)

    plain = device.launch(kernel(SOURCE, "columns"), (1,), (32,), (y, np.int32(0)), 4096).counters
    padded = device.launch(kernel(SOURCE, "columns"), (1,), (32,), (y, np.int32(1)), 4224).counters

    assert access(plain, 12, write=True, space="shared").bank_conflicts == 31
    assert access(padded, 12, write=True, space="shared").bank_conflicts == 0


def test_counters_add_up_and_survive_json() -> None:
    device = Device()
    x, y = device.array(np.arange(256)), device.empty(256)
    one = device.launch(kernel(SOURCE, "squared"), (4,), (64,), (x, y)).counters

    both = one + one

    assert (both.launches, both.global_bytes_read) == (2, 2048)
    assert len(both.accesses) == len(one.accesses)
    assert Counters.from_dict(both.as_dict()) == both
