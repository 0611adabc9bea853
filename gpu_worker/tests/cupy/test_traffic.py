"""Each array operation counts as the kernel that CuPy would run for it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import gpu_worker.cupy_cpu as cp
from gpu_worker.cupy_cpu import traffic

ROWS, DIM = 16, 256
SIZE = ROWS * DIM * 4


def moved(work: Any) -> tuple[float, float, int]:
    """Return what a function of x moves, read and written in sizes of x, and its launches."""
    x = cp.ones((ROWS, DIM), cp.float32)
    traffic.take()
    work(x)
    counts = traffic.take()
    return counts.bytes_read / SIZE, counts.bytes_written / SIZE, counts.launches


@pytest.mark.parametrize(
    ("work", "counts"),
    [
        (lambda x: x + 1, (1, 1, 1)),
        (lambda x: x * x, (1, 1, 1)),
        (lambda x: x + x.copy(), (3, 2, 2)),
        (lambda x: x.sum(axis=-1), (1, 1 / DIM, 1)),
        (lambda x: x * x[:1], (1 + 1 / ROWS, 1, 1)),
        (lambda x: x.T.reshape(DIM, ROWS)[::2, None], (0, 0, 0)),
        (lambda x: cp.ascontiguousarray(x), (0, 0, 0)),
        (lambda x: cp.ascontiguousarray(x.T), (1, 1, 1)),
        (lambda x: x.astype(cp.float32), (1, 1, 1)),
        (lambda x: x.astype(cp.float32, copy=False), (0, 0, 0)),
        (lambda x: cp.var(x, axis=-1), (2, 2 / DIM, 2)),
        (lambda x: cp.zeros((ROWS, DIM), cp.float32), (0, 1, 1)),
        (lambda x: cp.empty((ROWS, DIM), cp.float32), (0, 0, 0)),
        (lambda x: x[:0] + 1, (0, 0, 0)),
        (lambda x: x.__iadd__(1), (1, 1, 1)),
    ],
)
def test_inputs_are_read_and_outputs_written_once(work: Any, counts: Any) -> None:
    assert moved(work) == pytest.approx(counts)


@pytest.mark.parametrize(
    "take",
    [
        *(repr, str, format, pickle.dumps, cp.asnumpy, cp.ndarray.tolist, cp.ndarray.tobytes),
        lambda x: [x[:, j].get() for j in range(DIM)],
        lambda x: x.get(out=np.empty(x.shape, x.dtype)),
    ],
)
def test_what_comes_to_the_host_is_moved(take: Any) -> None:
    assert moved(take) == (1, 1, 0)


@pytest.mark.parametrize("take", [float, int, bool, complex, cp.ndarray.item])
def test_a_number_that_comes_to_the_host_takes_a_whole_sector(take: Any) -> None:
    assert moved(lambda x: [take(value) for value in x[0]]) == (8 / ROWS, 8 / ROWS, 0)


def test_no_attribute_gives_the_memory_away() -> None:
    x = cp.ones((2, 2), cp.float32)
    found = [getattr(x, name, None) for name in {*dir(x), *type(x).__slots__}]
    found += [getattr(x.data, name, None) for name in dir(x.data)]
    assert not any(isinstance(value, np.ndarray | memoryview) for value in found)
    assert copy.deepcopy(x).get().tolist() == pickle.loads(pickle.dumps(x)).tolist() == [[1, 1]] * 2  # noqa: S301


def test_rmsnorm_as_one_expression_moves_three_and_a_half_times_the_least() -> None:
    gamma = cp.ones(DIM, cp.float32)
    read, written, launches = moved(
        lambda x: x / cp.sqrt(cp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gamma
    )
    assert read + written == pytest.approx(7, abs=0.2)
    assert launches == 6


def test_a_fused_function_is_one_kernel() -> None:
    @cp.fuse()
    def scaled(x: Any, y: Any) -> Any:
        return (x * y + 1) * y

    plain = cp.fuse(lambda x: cp.sqrt(x) + 1)
    assert moved(lambda x: scaled(x, x)) == (1, 1, 1)
    assert moved(plain) == (1, 1, 1)
    x = cp.asarray(np.arange(4.0))
    assert scaled(x, x).get().tolist() == [0, 2, 10, 30]


def test_a_reduction_in_a_fused_function_has_what_follows_read_again() -> None:
    gamma = cp.ones(DIM, cp.float32)

    @cp.fuse()
    def normalized(x: Any, gamma: Any) -> Any:
        return x / cp.sqrt(cp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * gamma

    # x before the mean and after it, gamma, and the means, which all of the grid waits for.
    expected = (2 + 1 / ROWS + 1 / DIM, 1 + 1 / DIM, 1)
    assert moved(lambda x: normalized(x, gamma)) == pytest.approx(expected)


def test_what_a_fused_function_needs_after_a_reduction_is_kept_meanwhile() -> None:
    @cp.fuse()
    def centred_gradient(x: Any, y: Any) -> tuple[Any, Any]:
        product = x * y
        return product - cp.mean(product, axis=-1, keepdims=True), cp.sum(product, axis=0)

    # x and y; then the product and its means. Written: product, means, both results.
    y = cp.ones((ROWS, DIM), cp.float32)
    expected = (3 + 1 / DIM, 2 + 1 / DIM + 1 / ROWS, 1)
    assert moved(lambda x: centred_gradient(x, y)) == pytest.approx(expected)


def test_a_fused_function_within_another_is_part_of_its_kernel() -> None:
    squared = cp.fuse(lambda x: x * x)
    assert moved(cp.fuse(lambda x: squared(x) + x)) == (1, 1, 1)


def test_a_fused_function_may_change_what_it_is_given() -> None:
    def double(x: Any) -> None:
        x *= 2

    assert moved(cp.fuse(double)) == (1, 1, 1)
    assert moved(cp.fuse(lambda x: x[:0] + 1)) == (0, 0, 0)
