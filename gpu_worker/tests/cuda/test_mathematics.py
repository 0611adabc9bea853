"""Explicit rounding, and functions that the C library lacks, behave as on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_worker.tests.cuda.executor import Executor, kernel, source


@pytest.fixture
def executor() -> Executor:
    return Executor()


ROUNDING = source("rounding")


def directed(exact: Any) -> list[Any]:
    """Return float64 numbers as float32, rounded downwards, upwards and towards zero."""
    near = exact.astype("f4")
    down = np.where(near.astype("f8") > exact, np.nextafter(near, np.float32(-np.inf)), near)
    up = np.where(near.astype("f8") < exact, np.nextafter(near, np.float32(np.inf)), near)
    return [down, up, np.where(exact > 0, down, up)]


def test_numbers_are_rounded_in_the_requested_direction(executor: Executor) -> None:
    rng = np.random.default_rng(9)
    a, b = (rng.standard_normal(256).astype("f4") for _ in range(2))
    out = executor.empty((9, 256))
    args = (executor.array(a), executor.array(b), out, np.int32(256))

    executor.launch(kernel(ROUNDING, "directed"), (1,), (256,), args)

    product, total = a.astype("f8") * b, a.astype("f8") + b
    wanted = directed(product) + directed(total) + directed(product)
    assert np.array_equal(out.host, wanted)
    assert (product != product.astype("f4")).mean() > 0.9


def test_conversions_to_integers_are_those_of_a_device(executor: Executor) -> None:
    """What does not fit becomes the nearest that does; NaN 0, or with 64 bits the highest bit."""
    x = executor.array([2.5, -2.5, 3e9, -3e9, np.nan], np.float64)
    out = executor.empty((9, 5), np.int64)

    executor.launch(kernel(ROUNDING, "whole"), (1,), (5,), (x, out))

    low, high = -(2**31), 2**31 - 1
    lowest = -(2**63)
    assert out.host.tolist() == [
        [2, -2, high, low, low],
        [2, -3, high, low, low],
        [3, -2, high, low, low],
        [2, -2, high, low, low],
        [2, -2, high, low, 0],
        [2, 0, 3_000_000_000, 0, 2**31],
        [2, 0, 3_000_000_000, 0, 0],
        [2, -3, 3_000_000_000, -3_000_000_000, lowest],
        [3, 0, 3_000_000_000, 0, lowest],
    ]


def test_functions_that_the_c_library_lacks(executor: Executor) -> None:
    x, d = executor.array([2, 3, 6]), executor.array([2, 3, 6], np.float64)
    out, bits = executor.empty(11), executor.empty(13, np.int64)

    executor.launch(kernel(ROUNDING, "others"), (1,), (1,), (x, d, out, bits))

    thirds, roots = directed(np.array([1 / 3])), directed(np.array([2**0.5]))
    seventh = np.float32(1) / np.float32(7)
    wanted = [7, seventh, 7, seventh, thirds[0][0], thirds[1][0], roots[0][0], roots[1][0]]
    assert out.host.tolist() == [*wanted, 3e8, thirds[1][0], 4_294_967_040]
    averages = [-1, 2**31 + 1, 2**31]
    products = [2 - 3 + 8 - 127 * 128 + 5, 2 + 3 * 255 + 8 + 128 * 128 + 5]
    assert bits.host.tolist() == [15, -(2**63), 17, 1, 64, 1, *averages, *products, 1, 1]
