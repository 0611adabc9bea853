"""The stand-in's arrays compute what NumPy computes, and refuse what CuPy refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpu_worker.cupy_cpu as cp
from gpu_worker.cupy_cpu import linalg, memory, random
from gpu_worker.cupy_cpu.array import backing

DTYPES = ("float32", "float64", "float16")
DRAW = np.random.default_rng(3)
VALUES = DRAW.standard_normal((3, 4, 5)) + 2.0

SAME: list[Callable[[Any, Any], Any]] = [
    lambda xp, x: x + 2,
    lambda xp, x: 1 / x - x**2,
    lambda xp, x: -x * x + abs(x),
    lambda xp, x: xp.sqrt(xp.abs(x)),
    lambda xp, x: xp.maximum(x, 1.5),
    lambda xp, x: xp.exp(x[:, 1:, ::2]),
    lambda xp, x: (x > 2) & ~(x < 1),
    lambda xp, x: x.max(axis=-1, keepdims=True),
    lambda xp, x: xp.argmax(x, axis=1),
    lambda xp, x: x.T.reshape(5, -1),
    lambda xp, x: x.swapaxes(0, 2)[::-1],
    lambda xp, x: xp.broadcast_to(x[0, 0], (2, 5)),
    lambda xp, x: xp.concatenate([x, x[:1]], axis=0),
    lambda xp, x: xp.stack([x, x + 1], axis=-1),
    lambda xp, x: xp.where(x > 2, x, 0),
    lambda xp, x: xp.clip(x, 1, 3),
    lambda xp, x: x[x > 2],
    lambda xp, x: x[..., None].squeeze(-1),
    lambda xp, x: xp.take(x, xp.asarray([0, 2]), axis=0),
    lambda xp, x: xp.cumsum(x, axis=1).shape,
    lambda xp, x: xp.arange(5) * 2,
    lambda xp, x: xp.linspace(0, 1, 7),
    lambda xp, x: xp.zeros_like(x) + xp.ones(5),
    lambda xp, x: xp.result_type(x, xp.float64),
    lambda xp, x: xp.isfinite(x / 0),
    lambda xp, x: xp.count_nonzero(x > 2),
    lambda xp, x: x.flatten().tolist()[:3],
    lambda xp, x: xp.round(x, 1) + x.round(),
    lambda xp, x: xp.nan_to_num(x / 0),
    lambda xp, x: xp.argwhere(x > 2),
    lambda xp, x: xp.append(x, x[:1], axis=0),
    lambda xp, x: xp.tri(3, 4) + xp.indices((3, 4))[0],
    lambda xp, x: xp.searchsorted(xp.arange(5.0), x[0, 0].astype(float)),
    lambda xp, x: xp.bincount(xp.asarray([0, 2, 2])),
    lambda xp, x: xp.array_split(x, 2)[1],
    lambda xp, x: xp.pad(x, ((0, 0), (1, 0), (0, 2))),
    lambda xp, x: xp.select([x > 2, x > 1], [x, -x]),
    lambda xp, x: x[xp.ix_([0, 2], [1], [0, 4])],
    lambda xp, x: xp.modf(x)[1],
    lambda xp, x: xp.divmod(x, 2)[0],
    lambda xp, x: xp.add.reduce(abs(x[:, :1]) > 9),
    lambda xp, x: xp.maximum.reduce(x, axis=1),
    lambda xp, x: xp.radians(x) + xp.heaviside(x, 0),
    lambda xp, x: xp.mgrid[0:3, 0:2],
    lambda xp, x: xp.r_[xp.arange(3), xp.arange(2)],
    lambda xp, x: xp.isclose(x, x + 1e-9),
    lambda xp, x: xp.shape(x) + (xp.size(x), xp.ndim(x)),
    lambda xp, x: xp.concat([x, x]) if xp is cp else np.concatenate([x, x]),
    lambda xp, x: xp.issubdtype(x.dtype, xp.floating),
    lambda xp, x: x.tobytes(),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", range(len(SAME)))
def test_operations_give_what_numpy_gives(number: int, dtype: str) -> None:
    values = VALUES.astype(dtype)
    with np.errstate(all="ignore"):
        expected = SAME[number](np, values.copy())
    got = SAME[number](cp, cp.asarray(values))
    if isinstance(got, cp.ndarray):
        assert type(expected) is not cp.ndarray
        assert got.dtype == np.asarray(expected).dtype
        assert np.array_equal(got.get(), expected)
    else:
        assert got == expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std"])
def test_halves_are_summed_in_float32_and_rounded_once(name: str, dtype: str) -> None:
    values = (DRAW.standard_normal((4, 3000)) + 1).astype(dtype)
    got = getattr(cp, name)(cp.asarray(values), axis=-1)
    exact = getattr(np, name)(values.astype(np.float64), axis=-1)
    assert got.dtype == values.dtype
    unit = float(ml_dtypes.finfo(values.dtype).eps) * np.abs(exact)
    # The mean is rounded before the squares about it are added up, as in CuPy.
    assert (np.abs(got.get().astype(np.float64) - exact) <= unit).all()


def test_a_sum_in_half_precision_does_not_stop_at_2048() -> None:
    assert float(cp.ones(60_000, cp.float16).sum(dtype=cp.float32)) == 60_000
    assert float(cp.sum(cp.full((5_000, 1), 1, cp.float16), axis=0)[0]) == 5_000
    assert float(cp.mean(cp.ones(300, ml_dtypes.bfloat16))) == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_products_of_halves_are_summed_in_float32(dtype: str) -> None:
    ones = cp.ones((4, 3000), dtype)
    for product in (ones @ ones.T, cp.einsum("id,jd->ij", ones, ones), cp.dot(ones, ones.T)):
        assert product.dtype == np.dtype(dtype)
        assert float(product[0, 0]) == float(np.asarray(3000.0).astype(dtype))
    assert float(linalg.norm(ones[0])) == pytest.approx(3000**0.5, rel=1e-2)


def test_bfloat16_is_a_dtype_of_its_own() -> None:
    x = cp.asarray([1.0, 2.0, 3.0], dtype=ml_dtypes.bfloat16)
    assert x.dtype == np.dtype(ml_dtypes.bfloat16)
    assert (x * x).dtype == x.dtype
    # As CuPy promotes it: a Python float is wider than bfloat16, and float32 comes next.
    assert (x * 2.5).dtype == np.float32
    assert (x * cp.float32(2)).dtype == np.float32
    assert cp.finfo(ml_dtypes.bfloat16).eps == pytest.approx(2**-7)
    assert x.astype(cp.float32).get().tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_comparisons_give_an_array_of_one_element(dtype: str) -> None:
    x = cp.asarray(VALUES.astype(dtype))
    for same in (cp.allclose(x, x), cp.array_equal(x, x)):
        assert type(same) is cp.ndarray
        assert same.shape == ()
        assert bool(same)
    assert not cp.allclose(x, x + 1)


def test_named_in_place_functions_change_the_array() -> None:
    x = cp.asarray([3.0, 1.0, 2.0])
    assert x.sort() is None
    assert x.get().tolist() == [1, 2, 3]
    cp.put(x, cp.asarray([0]), 7)
    cp.putmask(x, x == 2, 5)
    assert x.get().tolist() == [7, 5, 3]
    square = cp.zeros((2, 2))
    cp.fill_diagonal(square, 4)
    assert square.get().tolist() == [[4, 0], [0, 4]]
    with pytest.raises(TypeError, match="Unsupported type"):
        cp.put(np.zeros(2), 0, 1)


@pytest.mark.parametrize("name", ["median", "percentile", "quantile"])
def test_order_statistics_of_an_array(name: str) -> None:
    given = () if name == "median" else (0.5 if name == "quantile" else 50,)
    assert float(getattr(cp, name)(cp.arange(9.0), *given)) == 4


def test_random_numbers_are_arrays_on_the_device() -> None:
    x = cp.arange(50)
    random.shuffle(x)
    assert sorted(x.get().tolist()) == list(range(50)) != x.get().tolist()
    assert type(random.permutation(x)) is type(random.RandomState(1).rand(3)) is cp.ndarray
    assert random.RandomState(1).rand(3).get().tolist() == np.random.RandomState(1).rand(3).tolist()


def test_a_memoized_function_keeps_its_results() -> None:
    calls = []

    @cp.memoize(for_each_device=True)
    def square(value: int) -> int:
        calls.append(value)
        return value * value

    assert (square(3), square(3), calls) == (9, 9, [3])
    cp.clear_memo()
    assert (square(3), calls) == (9, [3, 3])


# --- what CuPy refuses -------------------------------------------------------------------------
def test_an_array_does_not_turn_into_numpys_by_itself() -> None:
    x = cp.ones(3)
    with pytest.raises(TypeError, match=r"Implicit conversion .* use `.get\(\)`"):
        np.asarray(x)
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.array([x, x])
    assert type(x.get()) is type(cp.asnumpy(x)) is np.ndarray
    assert cp.asnumpy([1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize(
    "mixed",
    [
        lambda x, n: x + n,
        lambda x, n: n + x,
        lambda x, n: n * x,
        lambda x, n: cp.add(x, n),
        lambda x, n: np.add(n, x),
        lambda x, n: cp.mean(n),
        lambda x, n: x.dot(n),
        lambda x, n: cp.where(x > 0, n, x),
        lambda x, n: cp.concatenate([x, n]),
        lambda x, n: x.__setitem__(slice(None), n),
        lambda x, n: cp.add(x, [1, 2, 3]),
        lambda x, n: cp.allclose(x, n),
        lambda x, n: cp.select([x > 0], [n]),
    ],
)
def test_numpys_arrays_are_not_mixed_with_the_devices(mixed: Any) -> None:
    with pytest.raises(TypeError, match="Unsupported type"):
        mixed(cp.ones(3), np.ones(3))


def test_numpys_functions_on_a_device_array_stay_on_the_device() -> None:
    x = cp.asarray(VALUES)
    for result in (np.sqrt(x), np.mean(x, axis=0), np.linalg.norm(x), np.concatenate([x, x])):
        assert type(result) is cp.ndarray


@pytest.mark.parametrize(
    ("place", "name", "near"),
    [
        (cp, "sqrtt", "sqrt"),
        (cp, "elementwisekernel", "ElementwiseKernel"),
        (linalg, "nrm", "norm"),
        (random, "rannd", "rand"),
        (cp.cuda, "Streams", "Stream"),
        (cp.cuda, "MemoryPol", "MemoryPool"),
        (cp.cuda.runtime, "getDevices", "getDevice"),
        (cp.cuda.Device(), "attribute", "attributes"),
        (cp.get_default_memory_pool(), "used_byte", "used_bytes"),
        (cp.ones(1), "reshap", "reshape"),
    ],
)
def test_missing_names_are_reported_with_similar_ones(place: Any, name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"stand-in for CuPy has no .*{name}.*{near}"):
        getattr(place, name)


@pytest.mark.parametrize(
    ("place", "name", "offered"),
    [
        (cp, "fft", "RawKernel"),
        (cp, "from_dlpack", "making and moving arrays"),
        (cp, "save", "ElementwiseKernel"),
        (linalg, "eig", "eigh"),
        (cp.cuda, "Graph", "Stream, Event"),
        (cp.cuda.runtime, "malloc", "deviceSynchronize"),
        (cp.add, "at", "kernel"),
    ],
)
def test_parts_of_cupy_that_are_missing_are_reported_with_alternatives(
    place: Any, name: str, offered: str
) -> None:
    with pytest.raises(AttributeError, match=f"{name}: it is not offered here.*{offered}"):
        getattr(place, name)


def test_names_that_cupy_itself_lacks_are_not_offered() -> None:
    with pytest.raises(AttributeError, match=r"ml_dtypes\.bfloat16"):
        cp.bfloat16  # noqa: B018
    with pytest.raises(AttributeError, match=r"1 / cupy\.sqrt"):
        cp.rsqrt  # noqa: B018


def test_the_stand_in_identifies_itself() -> None:
    assert "cpu" in cp.__version__
    assert cp.get_array_module(cp.ones(1)) is cp
    assert cp.get_array_module(np.ones(1)) is np
    assert "stand-in" in cp.cuda.runtime.getDeviceProperties(0)["name"].decode()


# --- memory ------------------------------------------------------------------------------------
def test_a_single_element_is_an_array_and_a_view() -> None:
    x = cp.zeros((2, 3))
    element = x[1, 2]
    assert type(element) is cp.ndarray
    assert element.shape == ()
    x[1, 2] = 7
    assert float(element) == int(element) == element.item() == 7


def test_an_element_indexed_by_an_array_is_on_the_device() -> None:
    x = cp.arange(8, dtype=cp.float32)
    largest = x[cp.argmax(x)]
    assert (largest.shape, float(largest)) == ((), 7.0)
    assert memory.block_of(backing(largest)) is not None


def test_views_share_memory_and_results_do_not() -> None:
    x = cp.arange(12.0).reshape(3, 4)
    view, copy = x.T[1:], x.astype(x.dtype)
    x[...] = 5
    assert (view.get() == 5).all()
    assert copy.get()[0, 1] == 1
    assert x.data.ptr % 256 == 0


@pytest.mark.parametrize(
    ("write", "left"),
    [
        (lambda y: [y.__setitem__((i, j), 1.0) for i in range(4) for j in range(6)], 0),
        (lambda y: [row.__setitem__(np.int64(j), cp.ones(())) for row in y for j in range(6)], 0),
        (lambda y: [y.ravel().__setitem__(cp.asarray(i), 1) for i in range(23)], 1),
        (lambda y: y.__setitem__((1, 2), np.array(1)), 23),
        (lambda y: y.__setitem__((..., slice(None, None, 2)), 1), 12),
        (lambda y: y.T.__setitem__((slice(None), 0), 1), 18),
        (lambda y: y.__setitem__(cp.asarray(np.eye(4, 6) > 0), 1), 20),
        (lambda y: y.__setitem__([0, 2], cp.ones((2, 6))), 12),
        (lambda y: y.__setitem__(([0, 3], ..., slice(1, 2)), 1), 22),
        (lambda y: cp.add(1, 1, out=y[::3]), 12),
    ],
)
def test_writing_by_index_marks_only_what_is_written(write: Any, left: int) -> None:
    for dtype in DTYPES:
        y = cp.empty((4, 6), dtype)
        write(y)
        assert memory.unwritten(backing(y))[0] == left


def test_bytes_written_by_index_are_marked_in_pairs() -> None:
    y = cp.empty((5, 3), cp.int8)
    y[:, 1] = 1
    y[4] = 1
    block = memory.block_of(backing(y))
    assert block is not None
    assert block.unwritten() == (4, 2)


def test_in_place_operators_keep_the_array() -> None:
    x = cp.ones(4, cp.float32)
    same = x
    x += 1
    x *= cp.full(4, 3, cp.float32)
    assert same is x
    assert same.get().tolist() == [6, 6, 6, 6]
    out = cp.empty_like(x)
    assert cp.add(x, 1, out=out) is out
    with pytest.raises(TypeError, match=r"cupy\.ndarray"):
        cp.add(x, 1, out=np.empty(4, np.float32))


def test_streams_events_devices_and_pools_change_nothing() -> None:
    start, end = cp.cuda.Event(), cp.cuda.Event()
    with cp.cuda.Device(0), cp.cuda.Stream(non_blocking=True) as stream:
        start.record()
        x = cp.ones(3) * 2
        end.record(stream)
    stream.synchronize()
    end.synchronize()
    cp.cuda.Device().synchronize()
    cp.cuda.MemoryPool().free_all_blocks()
    assert cp.cuda.get_elapsed_time(start, end) >= 0
    assert cp.cuda.is_available()
    assert float(x.sum()) == 6


def test_memory_pools_exist_and_hold_nothing() -> None:
    pool, pinned = cp.get_default_memory_pool(), cp.get_default_pinned_memory_pool()
    assert pool is cp.get_default_memory_pool()
    x = cp.ones(1000)
    assert pool.used_bytes() == pool.total_bytes() == pool.free_bytes() == pool.n_free_blocks() == 0
    pool.free_all_blocks()
    pinned.free_all_blocks()
    assert pinned.n_free_blocks() == 0
    before = pool.get_limit()
    pool.set_limit(size=1024**3)
    assert (before, pool.get_limit()) == (0, 1024**3)
    pool.set_limit(fraction=0.5)
    assert pool.get_limit() == 705 * 10**8
    for wrong in ({}, {"size": 1, "fraction": 0.5}, {"fraction": 2}, {"size": -1}):
        with pytest.raises(ValueError, match=r"size or the fraction|no less than 0"):
            pool.set_limit(**wrong)
    pool.set_limit(size=0)
    cp.cuda.set_allocator(cp.cuda.MemoryAsyncPool().malloc)
    cp.cuda.set_pinned_memory_allocator(cp.cuda.PinnedMemoryPool().malloc)
    with cp.cuda.using_allocator(None), cp.cuda.profile():
        assert float(x.sum()) == 1000
