"""Each array operation counts as the kernel that CuPy would run for it."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
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
        *(cp.array2string, cp.array_repr, cp.array_str, np.array2string),
    ],
)
def test_copies_to_the_host_are_counted(take: Any) -> None:
    assert moved(take) == (1, 1, 0)


HOST = np.ones((ROWS, DIM), np.float32)


@pytest.mark.parametrize(
    ("give", "counts"),
    [
        (lambda x: cp.asarray(HOST), (1, 1, 0)),
        (lambda x: cp.frombuffer(HOST.tobytes(), cp.float32), (1, 1, 0)),
        (lambda x: cp.fromiter(HOST.ravel().tolist(), cp.float32), (1, 1, 0)),
        (lambda x: cp.fromfunction(lambda i, j: HOST, (ROWS, DIM)), (1, 1, 0)),
        # A list counts eight bytes per number, and its float64 array is written as well.
        (lambda x: cp.append(HOST.tolist(), []), (2, 4, 1)),
        (lambda x: cp.resize(HOST.tolist(), (ROWS, DIM)), (2, 4, 1)),
        (lambda x: cp.put(x, cp.arange(4), cp.arange(4)), (64 / SIZE, (64 + 16) / SIZE, 2 + 1)),
        (lambda x: x.__setitem__((0, 0), 1), (0, 4 / SIZE, 1)),
        (lambda x: x.__setitem__([0, 1], HOST[:2]), (1 / 4 + 48 / SIZE, 1 / 4 + 32 / SIZE, 1)),
    ],
)
def test_copies_from_the_host_are_counted(give: Any, counts: Any) -> None:
    assert moved(give) == pytest.approx(counts, rel=1e-3)


@pytest.mark.parametrize(
    "give",
    [
        *(lambda x: x.__setitem__(..., HOST.tolist()), lambda x: x.__setitem__(0, HOST[0])),
        *(lambda x: cp.random.normal(HOST, 0), lambda x: cp.random.default_rng(0).normal(HOST, 0)),
        *(lambda x: cp.random.uniform([1, 2], 3), lambda x: cp.linspace(HOST, HOST, 1)),
        *(lambda x: cp.hstack(HOST.ravel().tolist()), lambda x: cp.outer(x[0], HOST[0])),
        *(lambda x: cp.pad(x, 1, mode=print), lambda x: cp.append(x, memoryview(HOST))),
        lambda x: cp.full(1, np.void(HOST.tobytes())),
        lambda x: cp.ndarray(x.shape, x.dtype, SimpleNamespace(ptr=HOST.ctypes.data, kept=HOST)),
        lambda x: x.get(out=SimpleNamespace()),
    ],
)
def test_host_data_without_an_explicit_copy_are_refused(give: Any) -> None:
    with pytest.raises(TypeError, match=r"Unsupported type|MemoryPointer|Only numpy\.ndarray"):
        moved(give)


def test_an_array_at_an_address_is_in_device_memory() -> None:
    x = cp.ones(8, cp.float32)
    assert cp.ndarray((4,), cp.float32, x.data + 16).get().tolist() == [1] * 4
    with pytest.raises(ValueError, match="takes 20 bytes, where 16 are left"):
        cp.ndarray((5,), cp.float32, x.data + 16)
    with pytest.raises(ValueError, match="where 0 are left"):
        cp.ndarray((4,), cp.float32, x.data + (HOST.ctypes.data - x.data.ptr))


def test_setting_a_shape_that_needs_a_copy_is_refused() -> None:
    x = cp.ones((2, 3))
    x.shape = (3, 2)
    with pytest.raises(AttributeError, match=r"use x\.reshape"):
        x.T.shape = (6,)


INDICES = cp.arange(ROWS)
MASK = cp.arange(ROWS) < ROWS // 2


@pytest.mark.parametrize(
    ("work", "counts"),
    [
        (lambda x: x[INDICES], (1 + 8 / DIM / 4, 1, 1)),
        (lambda x: x[MASK], (1 / 2 + 1 / DIM / 4, 1 / 2, 1)),
        (lambda x: x.__setitem__(MASK, 1), (1 / DIM / 4, 1 / 2, 1)),
        (lambda x: cp.take(x, INDICES[:2], axis=0), (2 / ROWS + 16 / SIZE, 2 / ROWS, 1)),
        (
            lambda x: cp.putmask(x, MASK[:, None] & (x > 0), 2),
            (1 + 2 / 4 + 16 / SIZE, 2 / 4 + 1 / 2, 3),
        ),
        (lambda x: cp.copyto(x, 2, where=MASK[:, None]), (1 / DIM / 4, 1 / 2, 1)),
        (lambda x: cp.nonzero(x), (1, 4, 1)),
        (lambda x: cp.where(x), (1, 4, 1)),
        (lambda x: cp.flatnonzero(x), (1, 2, 1)),
        (lambda x: cp.meshgrid(x[0], x[1, :ROWS]), (1 / ROWS + 1 / DIM, 2, 1)),
        (lambda x: cp.mgrid[0:ROWS, 0:DIM], (0, 4, 1)),
        (lambda x: cp.r_[x[0], x[1]], (2 / ROWS, 2 / ROWS, 1)),
        (lambda x: x.imag, (0, 1, 1)),
        (lambda x: x.view(cp.complex64).imag, (0, 0, 0)),
        (lambda x: cp.linspace(x, x, 1), (1, 1, 1)),
        (lambda x: cp.random.normal(x, 0.0), (1, 2, 1)),
        (lambda x: cp.random.permutation(x), (1, 1, 1)),
        (lambda x: cp.random.rand(ROWS, DIM, dtype=cp.float32), (0, 1, 1)),
    ],
)
def test_reads_by_indices_and_functions_count(work: Any, counts: Any) -> None:
    assert moved(work) == pytest.approx(counts)


@pytest.mark.parametrize("take", [float, int, bool, complex, cp.ndarray.item])
def test_a_number_copied_to_the_host_costs_a_whole_sector(take: Any) -> None:
    assert moved(lambda x: [take(value) for value in x[0]]) == (8 / ROWS, 8 / ROWS, 0)


def test_no_attribute_exposes_the_memory() -> None:
    x = cp.ones((2, 2), cp.float32)
    found = [getattr(x, name, None) for name in {*dir(x), *type(x).__slots__}]
    found += [getattr(x.data, name, None) for name in dir(x.data)]
    assert not any(isinstance(value, np.ndarray | memoryview) for value in found)
    assert copy.deepcopy(x).get().tolist() == pickle.loads(pickle.dumps(x)).tolist() == [[1, 1]] * 2  # noqa: S301


def test_rmsnorm_as_one_expression_moves_three_and_a_half_times_the_minimum() -> None:
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


def test_a_reduction_in_a_fused_function_makes_later_steps_reread() -> None:
    gamma = cp.ones(DIM, cp.float32)

    @cp.fuse()
    def normalized(x: Any, gamma: Any) -> Any:
        return x / cp.sqrt(cp.sum(x * x, axis=-1)[..., None] / DIM + 1e-6) * gamma

    # x before the mean and after it, gamma, and the means, which all of the grid waits for.
    expected = (2 + 1 / ROWS + 1 / DIM, 1 + 1 / DIM, 1)
    assert moved(lambda x: normalized(x, gamma)) == pytest.approx(expected)


def test_values_needed_after_a_fused_reduction_are_stored() -> None:
    @cp.fuse()
    def centred_gradient(x: Any, y: Any) -> tuple[Any, Any]:
        product = x * y
        return product - (cp.sum(product, axis=-1) / DIM)[:, None], cp.sum(product, axis=0)

    # x and y; then the product and its means. Written: product, means, both results.
    y = cp.ones((ROWS, DIM), cp.float32)
    expected = (3 + 1 / DIM, 2 + 1 / DIM + 1 / ROWS, 1)
    assert moved(lambda x: centred_gradient(x, y)) == pytest.approx(expected)


def test_a_fused_function_within_another_is_part_of_its_kernel() -> None:
    squared = cp.fuse(lambda x: x * x)
    assert moved(cp.fuse(lambda x: squared(x) + x)) == (1, 1, 1)


def test_a_fused_function_may_change_its_arguments() -> None:
    def double(x: Any) -> None:
        x *= 2

    assert moved(cp.fuse(double)) == (1, 1, 1)
    assert moved(lambda x: cp.fuse(lambda part: part + 1)(x[:0])) == (0, 0, 0)


@pytest.mark.parametrize(
    "work",
    [
        *(
            lambda x: x / cp.cumsum(x * x, axis=-1)[..., -1:],
            lambda x: cp.sort(x),
            lambda x: cp.dot(x, x.sum()),
        ),
        *(lambda x: x[:, :4], lambda x: x[INDICES], lambda x: x[x > 0], lambda x: cp.mean(x)),
        *(lambda x: cp.sum(x, axis=-1, keepdims=True), lambda x: x.std(axis=-1), lambda x: x.T + 1),
        *(lambda x: x * x.shape[-1], lambda x: x.reshape(-1), lambda x: x + cp.zeros(DIM)),
        *(lambda x: cp.add(x, 1, out=cp.empty_like(x)), lambda x: x / float(x[0, 0])),
        *(lambda x: x * cp.asarray(HOST), lambda x: x.__setitem__(0, 1), lambda x: x.get()),
        lambda x: cp.ElementwiseKernel("T a", "T b", "b = a", "copied")(x),
    ],
)
def test_functions_that_cupy_cannot_fuse_are_refused(work: Any) -> None:
    with pytest.raises(NotImplementedError, match="only if all in it works element by element"):
        moved(cp.fuse(work))
    assert moved(lambda x: x + 1) == (1, 1, 1)


def test_a_fused_function_reads_only_its_arguments() -> None:
    gamma = cp.ones(DIM, cp.float32)
    with pytest.raises(TypeError, match="Concrete ndarray is not supported in fusion"):
        moved(cp.fuse(lambda x: x * gamma))


def test_functions_that_cupy_fuses_are_one_kernel() -> None:
    def work(x: Any, y: Any) -> Any:
        y[...] = cp.where(x > 0, x, 0).astype(cp.float32)
        cp.copyto(y, cp.clip(x, 0, 1).copy())
        y += cp.sum(x.max(axis=0)) + x[None, 0, ::-1] + cp.any(x > 0)

    y = cp.empty((ROWS, DIM), cp.float32)
    assert moved(lambda x: cp.fuse(work)(x, y))[2] == 1
