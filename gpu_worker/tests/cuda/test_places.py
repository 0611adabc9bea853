"""Diagnostics name memory by the path that a kernel takes to it."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_worker.tests.cuda.executor import Executor, kernel

SOURCE = """
struct View { float *x; int n; };
struct Row { int n; float *x; };
__device__ float *kept;
extern "C" __global__ void by_value(View view) { view.x[view.n] = 1; }
extern "C" __global__ void by_table(float **rows, int n) { rows[1][n] = 1; }
extern "C" __global__ void by_structures(const Row *rows) { rows[1].x[rows[1].n] = 1; }
extern "C" __global__ void by_numbers(const long long *rows, int n) {
    reinterpret_cast<float *>(rows[1])[n] = 1;
}
extern "C" __global__ void keep(float *x) { kept = x; }
extern "C" __global__ void by_variable(int n) { kept[n] = 1; }
extern "C" __global__ void by_pair(float **rows, float *x, int n) { rows[1][n] = x[0]; }
extern "C" __global__ void by_two(float ***both, int n) { both[0][1][n] = 1; }
"""
VIEW = np.dtype([("x", np.int64), ("n", np.int32)], align=True)


def message(executor: Executor, name: str, args: list[object]) -> str:
    """Return what is said of one thread that writes past the end of three floats."""
    (diagnostic,) = executor.diagnostics(kernel(SOURCE, name), (1,), (1,), args)
    assert diagnostic.kind.value == "out-of-bounds-write"
    return diagnostic.message


def test_arrays_are_named_by_the_path_to_them(executor: Executor) -> None:
    x, other = executor.array([1, 2, 3]), executor.array([1])
    x.block.itemsize = 4
    view = np.array((x.block.address, 3), VIEW)[()]
    said = message(executor, "by_value", [view])
    assert "at view.x[3], past its end: view.x has 3 elements" in said

    table = executor.array([other.block.address, x.block.address], np.int64)
    said = message(executor, "by_table", [table.block.address, np.int32(3)])
    assert "at rows[1][3], past its end: rows[1] has 3 elements" in said
    assert "at rows[1][3]," in message(executor, "by_numbers", [table, np.int32(3)])
    both = executor.array([table.block.address], np.int64)
    table.block.itemsize = 8
    assert "at both[0][1][3]," in message(executor, "by_two", [both, np.int32(3)])

    executor.launch(kernel(SOURCE, "keep"), (1,), (1,), [x], order="forward")
    said = message(executor, "by_variable", [np.int32(3)])
    assert "at kept[3], past its end: kept has 3 elements" in said


def test_an_address_in_a_structure_in_memory_is_given_as_a_byte(executor: Executor) -> None:
    x = executor.array([1, 2, 3])
    x.block.itemsize = 4
    row = np.dtype([("n", np.int32), ("x", np.int64)], align=True)
    rows = executor.array(np.array([(0, 0), (3, x.block.address)], row), row)
    leads = "the array whose address is in rows, byte 24"
    assert f"at element 3 of {leads}, past its end: {leads} has 3 elements" in message(
        executor, "by_structures", [rows.block.address]
    )


def test_a_parameters_own_name_comes_first(executor: Executor) -> None:
    x = executor.array([1, 2, 3])
    x.block.itemsize = 4
    table = executor.array([0, x.block.address], np.int64)
    said = message(executor, "by_pair", [table, x, np.int32(3)])
    assert "at x[3]," in said


@pytest.fixture
def executor() -> Executor:
    return Executor()
