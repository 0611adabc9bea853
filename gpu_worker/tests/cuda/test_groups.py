"""Cooperative groups and votes behave as NVIDIA documents; results are worked out lane by lane."""

from __future__ import annotations

import itertools
from functools import reduce
from operator import xor

import numpy as np
import pytest

from gpu_worker.cuda_cpu import CompileError, compile_source
from gpu_worker.tests.cuda.executor import Executor, kernel, source

GROUPS = source("groups")
RETURNED = source("returned")
SOME = [lane for lane in range(32) if lane % 7 < 3]
"""0 1 2, 7 8 9, 14 15 16, 21 22 23, 28 29 30: fifteen lanes."""


def bits(places: list[int]) -> int:
    """Return a mask as the kernel writes it, an int of 32 bits."""
    return int(np.uint32(sum(1 << place for place in places)).view(np.int32))


def test_coalesced_groups_of_fifteen_lanes() -> None:
    executor = Executor()
    out = executor.empty((15, 32), np.int32)
    report = executor.launch(kernel(GROUPS, "some_lanes"), (1,), (32,), (out,))
    assert not report.diagnostics
    rows = [[row[lane] for lane in SOME] for row in out.host.tolist()]
    sums = list(itertools.accumulate(SOME))
    assert sums[-1] == 225
    same = (15, 225, 30, 1, 7, 7, reduce(xor, SOME), 8, 7, 1)
    for row, value in zip((0, 2, 3, 4, 5, 6, 7, 10, 11, 12), same, strict=True):
        assert rows[row] == [value] * 15, row
    assert rows[1] == list(range(15))
    assert rows[8] == sums
    assert rows[9] == [0, *sums[:-1]]
    assert rows[13] == [4] * 12 + [3] * 3
    assert rows[14] == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 3


def test_lanes_of_a_branch_find_each_other() -> None:
    executor = Executor()
    out = executor.array(np.zeros(64), np.int32)
    executor.launch(kernel(GROUPS, "branches"), (1,), (32,), (out,))
    low, high = bits(list(range(10))), bits(list(range(10, 32)))
    assert out.host[:32].tolist() == [low] * 10 + [high] * 22
    # 24 lanes go round once, 16 of them twice, 8 three times.
    assert out.host[32:].tolist() == [0, 24, 16, 8] * 8


def test_one_atomic_serves_all_lanes_that_add_something() -> None:
    executor = Executor()
    x = executor.array(np.arange(32) % 9, np.int32)
    out = executor.array(np.zeros(33), np.int32)
    report = executor.launch(kernel(GROUPS, "compacted"), (1,), (32,), (x, out), order="forward")
    found = [value for value in x.host.tolist() if value > 5]
    assert out.host.tolist() == [len(found), *found, *[0] * (32 - len(found))]
    assert report.counters.atomics == 1


def test_tiles_and_other_partitions_of_blocks() -> None:
    executor = Executor()
    out = executor.empty((16, 64), np.int32)
    report = executor.launch(kernel(GROUPS, "partitions"), (1,), (64,), (out,))
    assert not report.diagnostics
    tile = [list(range(start, start + 8)) for start in range(0, 64, 8)]
    expected: list[list[int]] = [[] for _ in range(16)]
    for i in range(64):
        mine = tile[i // 8]
        equal = [k for k in mine if k % 3 == i % 3]
        side = [k for k in mine if (k % 8 < 3) == (i % 8 < 3)]
        labels = list(dict.fromkeys(k % 3 for k in mine))
        thirds = len({k // 3 for k in mine}) == 1
        half = range(16) if i % 32 < 16 else range(16, 32)
        for row, value in enumerate(
            (
                *(i * 100 + 64, i % 8 * 100 + 8, i % 4 * 100 + 4),
                *(equal.index(i) * 100 + len(equal), side.index(i) * 100 + len(side)),
                *(i % 32 // 8, labels.index(i % 3), 3),
                *(bits([k % 8 for k in mine if k % 4 == i % 4]), 255, 1, 0, int(thirds)),
                *(bits(list(half)), -1, 1),
            )
        ):
            expected[row].append(value)
    assert out.host.tolist() == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cg::reduce(cg::this_thread_block(), 1, cg::plus<int>())", "not a block"),
        ("cg::this_cluster().thread_rank()", "no clusters"),
        ("cg::tiled_partition<64>(cg::this_thread_block()).size()", "1, 2, 4, 8, 16 or 32"),
        ("__shfl_down(1, 1)", "__shfl_down_sync"),
        ("*(int *)malloc(4)", "line 4: A device's heap is not there"),
    ],
)
def test_a_missing_feature_is_a_compile_error_that_names_it(text: str, says: str) -> None:
    head = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
    head += "namespace cg = cooperative_groups;\n"
    with pytest.raises(CompileError, match=says):
        compile_source(f'{head}extern "C" __global__ void f(int *p) {{ p[0] = {text}; }}')


def test_reductions_of_groups_need_their_header() -> None:
    text = (
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        'extern "C" __global__ void f(int *p) { p[0] = cg::reduce(cg::coalesced_threads(), 1, '
        "cg::plus<int>()); }"
    )
    with pytest.raises(CompileError, match=r"#include <cooperative_groups/reduce\.h>"):
        compile_source(text)


@pytest.mark.parametrize("left", [96, 95, 64, 33, 1])
def test_a_barrier_waits_for_no_thread_that_has_returned(left: int) -> None:
    executor = Executor()
    x, y, votes = (
        executor.array(np.arange(96)),
        executor.array(np.zeros(96)),
        executor.empty(3, np.int32),
    )

    report = executor.launch(
        kernel(RETURNED, "block_goes_on"), (1,), (96,), (x, y, votes, np.int32(left))
    )

    assert not report.diagnostics
    assert y.host.tolist() == [*range(95, 95 - left, -1), *[0] * (96 - left)]
    assert votes.host.tolist() == [left, 1, 1]


def test_threads_may_return_one_after_the_other() -> None:
    executor = Executor()
    y = executor.array(np.zeros(8))

    report = executor.launch(kernel(RETURNED, "one_by_one"), (1,), (8,), (y,))

    assert not report.diagnostics
    assert y.host.tolist() == [sum(range(lane)) for lane in range(8)]


@pytest.mark.parametrize("threads", [64, 52])
def test_lanes_named_by_a_mask_may_have_returned(threads: int) -> None:
    executor = Executor()
    out = executor.array(np.zeros((11, 64)), np.int32)

    report = executor.launch(kernel(RETURNED, "warp_goes_on"), (1,), (threads,), (out,))

    assert not report.diagnostics
    there = bits(list(range(20)))
    odd = bits(list(range(1, 20, 2)))
    same = (19, odd, 1, 0, 5, there, 1, 190, 19, 20, 3)
    for row, value in zip(out.host.tolist(), same, strict=True):
        assert row == ([value] * 20 + [0] * 12) * 2


PIPELINE = """#include <cuda_pipeline.h>
extern "C" __global__ void k(const float *x, float *y, int wait, int barrier) {
  __shared__ __align__(16) float s[3][64];
  int i = threadIdx.x;
  if (i < 16) {
    __pipeline_memcpy_async(s[0] + 4 * i, x + 4 * i, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(s[1] + 2 * i, x + 64 + 2 * i, 8);
    __pipeline_memcpy_async(s[1] + 32 + 2 * i, x + 96 + 2 * i, 8, 4);
    __pipeline_commit();
    for (int j = 0; j < 4; j++) __pipeline_memcpy_async(&s[2][4 * i + j], x + 128 + 4 * i + j, 4);
    __pipeline_commit();
    if (wait < 3) __pipeline_wait_prior(wait);
  }
  if (barrier) __syncthreads();
  y[i] = s[0][63 - i];
  if (wait < 2) y[64 + i] = s[1][63 - i];
  if (wait < 1) y[128 + i] = s[2][63 - i];
}"""


@pytest.mark.parametrize("wait", [0, 1, 2])
def test_asynchronous_copies_are_complete_after_a_wait(wait: int) -> None:
    executor = Executor()
    x, y = executor.array(np.arange(192)), executor.array(np.zeros(192))

    report = executor.launch(
        kernel(PIPELINE, "k"), (1,), (64,), (x, y, np.int32(wait), np.int32(1)), order="forward"
    )

    assert not report.diagnostics
    second = [0 if index % 2 and index >= 32 else 64 + index for index in range(64)]
    rows = [list(range(64)), second, list(range(128, 192))]
    for row, values in enumerate(rows):
        expected = values[::-1] if wait < 3 - row else [0] * 64
        assert y.host[64 * row : 64 * row + 64].tolist() == expected, row
    assert report.counters.global_bytes_read == 192 * 4 - 16 * 4
    assert report.counters.shared_bytes_written == 4 * 64 * min(3 - wait, 3)


@pytest.mark.parametrize(
    ("wait", "barrier", "kind"),
    [(3, 1, "uninitialised-shared"), (0, 0, "missing-barrier")],
)
def test_asynchronous_copies_without_a_wait_are_reported(
    wait: int, barrier: int, kind: str
) -> None:
    executor = Executor()
    x, y = executor.array(np.arange(192)), executor.array(np.zeros(192))

    found = executor.diagnostics(
        kernel(PIPELINE, "k"), (1,), (64,), (x, y, np.int32(wait), np.int32(barrier))
    )

    assert kind in {item.kind for item in found}, [str(item) for item in found]


@pytest.mark.parametrize(
    ("copy", "kind"),
    [
        ("s + 1, x, 8", "misaligned-access"),
        ("s, x + 1, 16", "misaligned-access"),
        ("s, x + 64, 4", "out-of-bounds-read"),
        ("s + 64, x, 4", "out-of-bounds-write"),
        ("s, x, 2", "trap"),
        ("y, x, 4", "trap"),
    ],
)
def test_asynchronous_copies_are_watched_like_any_access(copy: str, kind: str) -> None:
    source = f"""#include <cuda_pipeline_primitives.h>
extern "C" __global__ void k(const float *x, float *y) {{
  __shared__ __align__(16) float s[64];
  __pipeline_memcpy_async({copy});
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[0] = s[0];
}}"""
    executor = Executor()

    found = executor.diagnostics(
        kernel(source, "k"), (1,), (1,), (executor.array(np.arange(64)), executor.empty(1))
    )

    assert (found[0].kind, found[0].line) == (kind, 4), [str(item) for item in found]
