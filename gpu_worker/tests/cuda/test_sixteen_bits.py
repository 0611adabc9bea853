"""Halves, bfloat16 and vectors are computed, moved and exchanged as on a device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gpu_worker.tests.cuda.executor import Executor, kernel, source

SIXTEEN_BITS = source("sixteen_bits")


@pytest.fixture
def executor() -> Executor:
    return Executor()


@pytest.mark.parametrize(
    ("name", "dtype"), [("__half", np.float16), ("__nv_bfloat16", ml_dtypes.bfloat16)]
)
def test_sixteen_bit_arithmetic_is_rounded_as_by_numpy(
    executor: Executor, name: str, dtype: Any
) -> None:
    rng = np.random.default_rng(5)
    n = 4096
    a, b = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    x = np.concatenate([rng.standard_normal(n // 2), 1 + np.arange(n // 2) / 2**12]).astype("f4")
    out, wide = executor.empty((7, n), dtype), executor.empty(n)
    args = (
        executor.array(a, dtype),
        executor.array(b, dtype),
        out,
        executor.array(x),
        wide,
        np.int32(n),
    )

    executor.launch(kernel(SIXTEEN_BITS, f"arithmetic<{name}>"), (n // 256,), (256,), args)

    fused = (a.astype("f8") * b.astype("f8") + a.astype("f8")).astype("f4").astype(dtype)
    expected = (a + b, a * b, a - b, a / b, fused, x.astype(dtype), np.sqrt(np.abs(a)))
    for number, (got, wanted) in enumerate(zip(out.host, expected, strict=True)):
        same = got.view(np.uint16) == wanted.view(np.uint16)
        # Rounding to float32 on the way, as NumPy does here, now and then goes the other way.
        assert same.mean() > (0.999 if number == 4 else 0.99999), number
    assert np.array_equal(wide.host, a.astype("f4"))


def test_vector_types_move_as_one(executor: Executor) -> None:
    a, v = executor.array(np.arange(64), np.float16), executor.array(np.arange(128))
    out, w = executor.empty(64, np.float16), executor.empty(128)

    report = executor.launch(kernel(SIXTEEN_BITS, "pairs"), (1,), (32,), (a, out, v, w))

    assert np.array_equal(out.host, 2 * a.host + 1)
    assert np.array_equal(w.host.reshape(32, 4), v.host.reshape(32, 4)[:, ::-1])
    requests = {(access.write, access.bytes // 32) for access in report.counters.accesses}
    assert requests == {(False, 4), (True, 4), (False, 16), (True, 16)}


def test_pairs_of_halves_are_shuffled_as_one(executor: Executor) -> None:
    out = executor.empty((2, 4, 32), np.uint32)

    executor.launch(kernel(SIXTEEN_BITS, "shuffled_pairs"), (1,), (32,), (out,))

    lane = np.arange(32)
    down = np.where(lane % 16 < 12, lane + 4, lane)
    sources = np.stack([np.full(32, 3), np.where(lane >= 2, lane - 2, lane), down, lane ^ 5])
    assert np.array_equal(out.host, np.stack([sources * 257 + 1] * 2))


def test_functions_of_one_argument(executor: Executor) -> None:
    x = np.linspace(0.25, 2.75, 32, dtype=np.float32)
    y = executor.empty((14, 32))

    executor.launch(kernel(SIXTEEN_BITS, "functions"), (1,), (32,), (executor.array(x), y))

    wide = x.astype("f8")
    expected = (
        wide**-0.5, wide**-0.5, np.exp(wide), np.log(wide), 1 / wide, wide**2, wide**2 + 1,
        np.maximum(wide, 1), 1 + np.minimum(wide, 0.5), np.minimum(wide, 1), np.rint(wide), wide,
        wide**-0.5, 2**wide,
    )  # fmt: skip
    for number, (got, wanted) in enumerate(zip(y.host, expected, strict=True)):
        np.testing.assert_allclose(got, wanted, rtol=5e-7, atol=1e-7, err_msg=str(number))
