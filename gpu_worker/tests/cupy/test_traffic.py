"""Each array operation counts as the kernel that CuPy would run for it."""

from __future__ import annotations

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
