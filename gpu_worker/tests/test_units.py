"""The unit of error: known values, and what is within the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch, term_sizes
from gpu_worker.judge.cases.casegen import public_cases
from gpu_worker.judge.cases.reference import expected_results
from gpu_worker.judge.cases.units import error_in_units, histogram, limit_in_units

# 50-digit arithmetic, rounded: x = [[1, 2, 3, 4]], eps = 1e-6, gamma = 1, dout = 1.
Y = [0.36514834732688840, 0.73029669465377680, 1.09544504198066520, 1.46059338930755359]
DX = [0.24343224778007221, 0.12171614823325601, 4.868643981872648e-8, -0.12171605086037637]


def test_the_reference_gives_the_chapters_values_within_one_unit() -> None:
    exercise = get("rmsnorm")
    y, dx, dgamma = expected_results(exercise, public_cases(exercise)[0])
    for result, known in ((y, Y), (dx, DX), (dgamma, Y)):
        right = np.array(known).reshape(result.value.shape)
        assert result.scale is not None
        units = error_in_units(result.value, right, result.scale, np.dtype(np.float64))
        assert units.max() <= 1.0, result.quantity


def test_a_result_that_cancels_is_measured_by_its_terms() -> None:
    layer = RMSNormScratch(4)
    layer.gamma = np.ones(4)
    layer.forward(np.array([[1.0, 2.0, 3.0, 4.0]]))
    sizes = term_sizes(layer, np.ones((1, 4)))
    # (|d*g| + |xhat| * mean|d*g*xhat|) * rstd with rstd = 1/2.7386..., mean|xhat| = 0.91287...
    assert sizes["dx"][0, 2] == pytest.approx((1 + Y[2] * np.mean(Y)) / 2.73861297010001)
    assert sizes["dgamma"] == pytest.approx(np.array(Y))
    # dx[2] of eps = 1e-5 in place of 1e-6 is off by 4.4e-7: a million units, not a rounding.
    units = error_in_units(
        np.array([[4.8686e-7]]), np.array([[DX[2]]]), sizes["dx"][:, 2:3], np.dtype(np.float64)
    )
    assert units[0, 0] > 1e6


@pytest.mark.parametrize("name", ["rmsnorm", "layernorm"])
def test_gamma_may_enlarge_the_rounding_of_a_subnormal_xhat(name: str) -> None:
    """Honest code may round xhat to float16 before it multiplies: up to (|gamma| + 1) / 2 steps."""
    reference = get(name).module("reference_numpy")
    half = np.finfo(np.float16)
    layer = getattr(reference, get(name).class_name)(101, 1e-3)
    layer.gamma = np.linspace(-8.0, 8.0, 101)
    x = np.random.default_rng(7).integers(-50, 51, (20, 101)) * float(half.smallest_subnormal)
    y = layer.forward(x.astype(np.float64))
    sizes = reference.term_sizes(layer, None, float(half.smallest_normal))["y"]
    rounded_early = (layer.xhat.astype(np.float16) * layer.gamma.astype(np.float16)).astype(
        np.float16
    )
    units = error_in_units(rounded_early, y, sizes, np.dtype(np.float16))
    assert 0.4 < units.max() <= 1.5


@pytest.mark.parametrize(
    ("dtype", "dim", "rows", "summed", "limit"),
    [
        ("float32", 100, 9, False, 32.0),
        ("float32", 16_384, 9, False, 32.0),
        ("float32", 16_385, 9, False, 64.0),
        ("float32", 100, 400, True, 42.0),
        ("float64", 100, 400, True, 64.0),
        ("float16", 100, 400, True, 1.5),
    ],
)
def test_limits_are_those_of_the_contract(
    dtype: str, dim: int, rows: int, summed: bool, limit: float
) -> None:
    assert limit_in_units(np.dtype(dtype), dim, rows, summed_over_rows=summed) == limit


def test_one_unit_is_the_spacing_of_the_dtype_times_the_size_of_the_terms() -> None:
    expected, scale = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    got = np.array([1.0 + 2**-23, 2 * np.finfo(np.float32).smallest_subnormal], np.float32)
    assert error_in_units(got, expected, scale, np.dtype(np.float32)) == pytest.approx([1.0, 2.0])


def test_nan_and_infinity_are_never_within_the_tolerance() -> None:
    got = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert np.isinf(error_in_units(got, np.ones(3), np.ones(3), np.dtype(np.float32))).all()


def test_an_overflow_forced_by_the_dtype_is_right_and_the_opposite_sign_is_wrong() -> None:
    expected = np.array([1e5, 1e5, -1e5, 1e5])
    got = np.array([np.inf, 65504, -np.inf, -np.inf], np.float16)
    units = error_in_units(got, expected, np.abs(expected), np.dtype(np.float16))
    assert list(np.isinf(units)) == [False, False, False, True]


def test_the_histogram_counts_every_element_once() -> None:
    counts = histogram(np.array([0.0, 0.25, 0.26, 1.0, 1.01, np.inf]))
    assert counts[:4] == [2, 1, 1, 1]
    assert counts[-1] == 1
    assert sum(counts) == 6
