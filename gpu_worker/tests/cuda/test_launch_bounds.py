"""The `__launch_bounds__` of each instance are known and enforced."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_worker.cupy_cpu.executor import LaunchError
from gpu_worker.tests.cuda.executor import Executor, module

SOURCE = """
#define MOST 96
constexpr int half_of(int n) { return n / 2; }
template <typename T, int THREADS = (2 > 1 ? 32 : 64), int K = 2>
__global__ void __launch_bounds__(half_of(THREADS) * K, 1) after(T *y) { y[threadIdx.x] = 1; }
__launch_bounds__(MOST) __global__ void before(int *y) { y[threadIdx.x] = 1; }
template <class T> __launch_bounds__(64) static __global__ void between(T *y) { *y = 1; }
extern "C" {
__global__ void __launch_bounds__(128 /* threads */, 2) braces(int *y) { y[threadIdx.x] = 1; }
}
template <typename T> __global__ void unbounded(T *y) { y[threadIdx.x] = 1; }
namespace inner {
constexpr int N = 64;
__global__ void __launch_bounds__(N) nested(int *y) { y[threadIdx.x] = 1; }
}
#if 1
__global__ void __launch_bounds__(32) twice(int *y) { y[threadIdx.x] = 1; }
#else
__global__ void __launch_bounds__(missing) twice(int *y) { y[threadIdx.x] = 1; }
#endif
"""
MOST = {
    "after<float>": 32,
    "after<int, 256, 1>": 128,
    "after<int,100,8>": 400,
    "before": 96,
    "between<int>": 64,
    "braces": 128,
    # Those whose text alone does not tell are left to devices.
    "unbounded<float>": 1024,
    "inner::nested": 1024,
    "twice": 1024,
}


def test_launch_bounds_of_each_instance_are_known() -> None:
    bounded = module(SOURCE, tuple(MOST))

    attributes = {name: bounded.kernel(name).attributes for name in MOST}

    assert {name: known["max_threads_per_block"] for name, known in attributes.items()} == MOST


@pytest.mark.parametrize("block", [(129,), (2, 65)])
def test_a_launch_beyond_its_bounds_is_refused(block: tuple[int, ...]) -> None:
    executor, which = Executor(), module(SOURCE, tuple(MOST)).kernel("braces")
    y = executor.empty(130, np.int32)

    assert executor.launch(which, (1,), (128,), (y,)).diagnostics == []
    with pytest.raises(LaunchError) as refused:
        executor.launch(which, (1,), block, (y,))

    (found,) = refused.value.diagnostics
    assert found.kind == "launch-size"
    assert "__launch_bounds__(128)" in found.message
