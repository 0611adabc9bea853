"""Kernels compute what the CUDA specification says."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from gpu_worker.cuda_cpu import CompileError, compile_source
from gpu_worker.cupy_cpu.executor import LaunchError
from gpu_worker.tests.cuda.executor import Executor, kernel, module, source

BLOCKS = source("blocks")


@pytest.fixture
def executor() -> Executor:
    return Executor()


def test_threads_have_indices_in_three_dimensions(executor: Executor) -> None:
    out = executor.empty(2 * 3 * 2 * 24, np.int32)

    report = executor.launch(kernel(BLOCKS, "indices"), (2, 3, 2), (4, 3, 2), (out,))

    expected = [block * 1000 + thread for block in range(12) for thread in range(24)]
    assert out.host.tolist() == expected
    assert report.counters.threads == 288


def test_kernels_that_a_macro_declares_are_found(executor: Executor) -> None:
    text = source("macros")

    kernels = compile_source(text).kernels

    assert kernels == ("plain", "named", "fill_int", "fill_float", "nested")
    for name, value in zip(kernels, (1, 2, 3, 3, 5), strict=True):
        out = executor.empty(4, np.float32 if name == "fill_float" else np.int32)
        executor.launch(kernel(text, name), (1,), (4,), (out,))
        assert out.host.tolist() == [value] * 4, name
    with pytest.raises(LaunchError) as caught:
        executor.launch(kernel(text, "nested"), (1,), (5,), (executor.empty(5, np.int32),))
    assert "4" in str(caught.value)


def test_a_macro_that_declares_no_kernel_is_named() -> None:
    with pytest.raises(CompileError, match="line 1: A macro holds `__global__`"):
        compile_source("#define KERNEL(name) __global__ void name\nint x;\n")


def test_static_shared_memory_has_its_shape(executor: Executor) -> None:
    x, y = executor.array(np.arange(64).reshape(8, 8)), executor.empty((8, 8))

    report = executor.launch(kernel(BLOCKS, "transposed"), (1,), (8, 8), (x, y, np.int32(8)))

    assert np.array_equal(y.host, x.host.T)
    assert report.counters.barriers == 1
    assert kernel(BLOCKS, "transposed").shared_size_bytes == 8 * 9 * 4


def test_dynamic_shared_memory_has_the_size_of_the_launch(executor: Executor) -> None:
    x, y = executor.array(np.arange(100), np.float64), executor.empty(100, np.float64)

    executor.launch(kernel(BLOCKS, "reversed"), (1,), (100,), (x, y), 800)

    assert np.array_equal(y.host, x.host[::-1])


def test_more_shared_memory_after_raising_the_limit(executor: Executor) -> None:
    which = module(BLOCKS).kernel("reversed")
    x, y = executor.array(np.arange(1000), np.float64), executor.empty(1000, np.float64)
    which.max_dynamic_shared_size_bytes = 100_000

    executor.launch(which, (1,), (1000,), (x, y), 100_000)

    assert np.array_equal(y.host, x.host[::-1])


def test_barriers_count_and_vote(executor: Executor) -> None:
    out = executor.empty(5, np.int32)

    executor.launch(kernel(BLOCKS, "counted"), (1,), (100,), (out,))

    assert out.host.tolist() == [50, 1, 1, 0, 0]


def test_structures_are_passed_by_value(executor: Executor) -> None:
    y = executor.empty(1)

    executor.launch(kernel(BLOCKS, "by_value"), (1,), (1,), (struct.pack("iif", 3, 4, 0.5), y))

    assert y.host[0] == 6.0


def test_constant_memory_is_set_by_the_host_and_globals_persist(executor: Executor) -> None:
    which = kernel(BLOCKS, "constants")
    address, size = module(BLOCKS).global_address("table")
    set_bytes(address, np.array([1, 2, 3, 4], np.float32))
    y = executor.empty(4)

    for _ in range(3):
        executor.launch(which, (1,), (4,), (y,), order="forward")

    assert size == 16
    assert y.host.tolist() == [1, 2, 3, 4]
    assert read_bytes(*module(BLOCKS).global_address("calls"), np.int32)[0] % 3 == 0
    with pytest.raises(KeyError):
        module(BLOCKS).global_address("missing")


def test_names_of_the_c_library_are_free_to_use(executor: Executor) -> None:
    source = """__constant__ float gamma[2] = {3, 4};
__device__ float norm(const float *x) { return x[0] * gamma[1]; }
extern "C" __global__ void index(float *y) { y[0] = norm(gamma); }"""
    y = executor.empty(1)

    report = executor.launch(kernel(source, "index"), (1,), (1,), (y,))

    assert y.host.tolist() == [12]
    assert report.diagnostics == []
    assert module(source).global_address("gamma")[1] == 8


def test_scalars_are_passed_by_their_own_type(executor: Executor) -> None:
    out = executor.empty(7, np.float64)
    args = (1 << 40, np.int32(-5), np.uint32(7), np.float32(0.5), 0.1, True, np.int16(-3), out)

    executor.launch(kernel(BLOCKS, "scalars"), (1,), (1,), args)

    assert out.host.tolist() == [float(1 << 40), -5, 7, 0.5, 0.1, 1, -3]


def test_what_a_kernel_prints_is_kept(executor: Executor) -> None:
    report = executor.launch(kernel(BLOCKS, "spoken"), (2,), (32,), (np.int32(3),), order="forward")

    assert report.output == "n = 3, half = 1.5\n" * 2


def test_a_failed_assertion_stops_the_launch_at_its_line(executor: Executor) -> None:
    executor.launch(kernel(BLOCKS, "checked"), (1,), (32,), (np.int32(1),))

    with pytest.raises(LaunchError) as caught:
        executor.launch(kernel(BLOCKS, "checked"), (1,), (32,), (np.int32(0),))

    line = BLOCKS.splitlines().index("  assert(n > 0);") + 1
    assert [(d.kind, d.line) for d in caught.value.diagnostics] == [("trap", line)]


def set_bytes(address: int, values: Any) -> None:
    ctypes.memmove(address, values.ctypes.data, values.nbytes)


def read_bytes(address: int, size: int, dtype: Any) -> Any:
    return np.frombuffer(ctypes.string_at(address, size), dtype)


WARPS = source("warps")


def test_lanes_exchange_and_vote(executor: Executor) -> None:
    out = executor.empty((15, 32), np.int32)

    executor.launch(kernel(WARPS, "shuffles"), (1,), (32,), (out,))

    lane = np.arange(32)
    value = 100 + lane
    expected = [
        np.full(32, 103), 100 + lane // 8 * 8 + 1, np.where(lane >= 2, value - 2, value),
        np.where(lane + 3 < 32, value + 3, value), np.where(lane % 8, value - 1, value),
        np.where(lane % 8 < 7, value + 1, value), 100 + (lane ^ 5),
        np.where((lane ^ 4) <= (lane | 3), 100 + (lane ^ 4), value),
        np.full(32, 7), np.full(32, 1), np.full(32, 0), np.full(32, 8), np.full(32, 496),
        np.full(32, 0), np.full(32, 32),
    ]  # fmt: skip
    for number, (got, wanted) in enumerate(zip(out.host, expected, strict=True)):
        assert got.tolist() == wanted.tolist(), number


def test_parts_of_a_warp_work_independently(executor: Executor) -> None:
    out = executor.empty(32, np.int32)

    executor.launch(kernel(WARPS, "halves_of_a_warp"), (1,), (32,), (out,))

    assert out.host.tolist() == [120] * 16 + [376] * 16


def test_cooperative_groups_of_a_block(executor: Executor) -> None:
    out = executor.empty(64)

    executor.launch(kernel(WARPS, "groups"), (1,), (64,), (out,))

    rank = np.arange(64)
    sums = rank.reshape(8, 8).sum(axis=1)
    assert out.host.tolist() == (sums[rank // 8] + 2 + 8).tolist()


ATOMICS = source("atomics")


def test_atomics_lose_nothing(executor: Executor) -> None:
    start = [0, 0, -9, 9, 0, 255, 0, 0, 0]
    i, u = executor.array(start, np.int32), executor.array([0, 3], np.uint32)
    wide, single, double = (executor.array([0], dtype) for dtype in (np.uint64, "f4", "f8"))

    report = executor.launch(
        kernel(ATOMICS, "counted"), (2,), (64,), (i, u, wide, single, double), order="random"
    )

    assert i.host.tolist() == [128, -256, 127, -127, 9, 0, 255, 0, 127 * 64]
    assert u.host.tolist() == [28, 3]
    assert (wide.host[0], single.host[0], double.host[0]) == (128 << 33, 128, 64)
    assert report.counters.atomics >= 13 * 128
    # Reading what others change by atomics is the first half of a compare-and-swap loop.
    assert {d.kind for d in report.diagnostics} <= {"global-race"}


def test_the_last_block_may_read_what_others_wrote_behind_a_fence(executor: Executor) -> None:
    x, parts, y = executor.array(np.arange(8)), executor.empty(8), executor.empty(1)

    report = executor.launch(
        kernel(ATOMICS, "last_block"), (8,), (1,), (x, parts, y, executor.array([0], np.uint32))
    )

    assert y.host[0] == 28
    assert report.diagnostics == []


ORDERED = source("orders")


@pytest.mark.parametrize("order", ["forward", "reverse", "random"])
def test_every_block_and_thread_runs_once_in_any_order(executor: Executor, order: str) -> None:
    seen, first = executor.array(np.zeros(24 * 70), np.int32), executor.array([0], np.int32)
    turn = executor.array([0], np.int32)

    for seed in range(5):
        executor.launch(
            kernel(ORDERED, "visited"),
            (4, 3, 2),
            (70,),
            (seen, turn, first),
            order=order,
            seed=seed,
        )

    assert seen.host.tolist() == [5] * (24 * 70)
    starts = {"forward": [0], "reverse": [24 * 70 - 1]}
    assert first.host[0] in starts.get(order, range(24 * 70))


SUMS = source("sums")
SUMMED_AS: dict[str, Any] = {
    "of_halves": np.float16,
    "of_doubles": np.float64,
    "integers": np.int32,
    "largest": np.int32,
}


def of_sums(executor: Executor, name: str, blocks: int = 4) -> list[tuple[str, str, str]]:
    """Launch a kernel of `sums.cu` in one order: what is found must not need a second."""
    x = executor.array(np.random.default_rng(0).standard_normal(64))
    y = executor.array([0.0] * 4, SUMMED_AS.get(name, np.float32))
    report = executor.launch(kernel(SUMS, name), (blocks,), (64,), (x, y), order="forward")
    return [(d.kind, d.severity, d.message) for d in report.diagnostics]


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("of_blocks", "Several blocks add to y[0]"),
        ("of_threads", "Several threads of a block add to y[0]"),
        ("of_threads_in_shared_memory", "Several threads of a block add to byte 0 of sum"),
        ("of_halves", "Several blocks add"),
        ("of_doubles", "Several blocks add"),
        ("of_pairs", "Several blocks add"),
    ],
)
def test_atomic_sums_that_round_in_the_order_of_threads_are_errors(
    executor: Executor, name: str, who: str
) -> None:
    ((kind, severity, message),) = of_sums(executor, name)
    assert (kind, severity) == ("atomic-sum", "error")
    assert message.startswith(who)
    assert ("let each block write its part" in message) == who.startswith("Several blocks")
    assert ("a tree in shared memory" in message) == who.startswith("Several threads")


@pytest.mark.parametrize(
    "name",
    [
        *("own_place", "integers", "counted", "of_two_blocks", "largest", "one_after_another"),
        "sums_in_turns",
    ],
)
def test_atomic_sums_that_are_the_same_in_each_order_pass_without_a_word(
    executor: Executor, name: str
) -> None:
    assert of_sums(executor, name) == []


def test_orders_that_differ_by_atomic_sums_are_reported_once(executor: Executor) -> None:
    x = executor.array(np.random.default_rng(0).standard_normal(512) * 1e3)
    report = executor.launch(kernel(ORDERED, "summed"), (4,), (128,), (x, executor.array([0.0])))
    assert [d.kind for d in report.diagnostics] == ["atomic-sum"]


def test_a_launch_repeats_for_the_same_seed(executor: Executor) -> None:
    x = executor.array(np.random.default_rng(0).standard_normal(512) * 1e3)
    sums = []
    for _ in range(3):
        y = executor.array([0.0])
        executor.launch(kernel(ORDERED, "summed"), (4,), (128,), (x, y), order="random", seed=3)
        sums.append(y.host[0])

    assert len(set(sums)) == 1


def test_a_warp_that_spins_lets_the_others_of_its_block_go_on(executor: Executor) -> None:
    waiting = """extern "C" __global__ void wait(int *out) {
  __shared__ int arrived;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&arrived, 1);
  while (atomicAdd(&arrived, 0) < 3) { }
  out[threadIdx.x] = atomicAdd(&arrived, 0);
}"""
    out = executor.empty(96, np.int32)

    report = executor.launch(kernel(waiting, "wait"), (1,), (96,), (out,), step_limit=1_000_000)

    assert out.host.tolist() == [3] * 96
    assert report.diagnostics == []
