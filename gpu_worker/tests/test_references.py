"""The references agree with central differences and with themselves in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get, on_track
from gpu_worker.judge.cases.reference import make_reference
from gpu_worker.judge.strength.rehearsal import rehearse
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.script import arrange
from gpu_worker.sandbox.inside.wire import ArrayValue
from gpu_worker.tests.shipped import shipped

SHAPES = [(7,), (5, 7), (2, 3, 7), (2, 3, 2, 5), (3, 1)]
STEP = 1e-5


def layer_for(slug: str, dim: int, dtype: str = "float64") -> Any:
    draw = np.random.default_rng(7)
    exercise = get(slug)
    layer = make_reference(exercise, dim, 1e-3 if "eps" in exercise.constructor else None)
    for name in get(slug).parameters:
        setattr(layer, name, draw.standard_normal(dim).astype(dtype))
    return layer


def numeric_gradient(loss: Any, at: np.ndarray) -> np.ndarray:
    gradient = np.empty_like(at)
    for index in np.ndindex(at.shape):
        kept = at[index]
        at[index] = kept + STEP
        above = loss()
        at[index] = kept - STEP
        gradient[index] = (above - loss()) / (2 * STEP)
        at[index] = kept
    return gradient


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_gradients_agree_with_central_differences(slug: str, shape: tuple[int, ...]) -> None:
    draw = np.random.default_rng(1)
    x, dout = draw.standard_normal(shape), draw.standard_normal(shape)
    layer = layer_for(slug, shape[-1])

    def loss() -> float:
        return float(np.sum(layer.forward(x) * dout))

    loss()
    dx = layer.backward(dout)
    analytic = {name: getattr(layer, f"d{name}") for name in get(slug).parameters}
    assert dx == pytest.approx(numeric_gradient(loss, x), abs=1e-7)
    for name, gradient in analytic.items():
        assert gradient == pytest.approx(numeric_gradient(loss, getattr(layer, name)), abs=1e-7)


@pytest.mark.parametrize("layout", ["fortran", "transposed", "strided", "reversed"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_the_layout_changes_nothing_and_the_dtype_is_kept(
    slug: str, dtype: str, layout: str
) -> None:
    x = np.random.default_rng(2).standard_normal((3, 4, 6)).astype(dtype)
    laid_out = arrange(ArrayValue(x, layout, x.shape))
    layer = layer_for(slug, 6, dtype)
    y, again = layer.forward(x), layer.forward(laid_out)
    dx = layer.backward(laid_out)
    assert y.dtype == again.dtype == dx.dtype == x.dtype
    assert all(getattr(layer, name).dtype == x.dtype for name in get(slug).gradients)
    assert np.array_equal(y, again)


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_the_chunked_yardstick_passes_every_case(slug: str) -> None:
    exercise = get(slug)
    cls = getattr(exercise.module("chunked_numpy"), exercise.class_name)
    for seed in range(3):
        for item in [item for run in rehearse(exercise, cls, seed) for item in run]:
            assert item.verdict.passed, (item.case.family, item.verdict.message)


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_an_empty_batch_gives_empty_results_and_zero_gradients(slug: str) -> None:
    layer = layer_for(slug, 5)
    assert layer.forward(np.empty((0, 3, 5))).shape == (0, 3, 5)
    assert layer.backward(np.empty((0, 3, 5))).shape == (0, 3, 5)
    for name in get(slug).gradients:
        assert np.array_equal(getattr(layer, name), np.zeros(5))


@pytest.mark.parametrize("slug", ["rmsnorm", "layernorm"])
def test_float16_values_whose_squares_overflow_are_normalized(slug: str) -> None:
    x = np.array([[300, -400, 500, 100]], np.float16)
    assert np.abs(layer_for(slug, 4, "float16").forward(x)).max() > 0.1


def test_a_one_hot_gradient_gives_the_probabilities_minus_the_target() -> None:
    layer = layer_for("softmax_cross_entropy", 3)
    assert layer.forward(np.array([[2.0, 1.0, 0.0]])) == pytest.approx(
        np.array([[0.40760596, 1.40760596, 2.40760596]])
    )
    dx = layer.backward(np.array([[1.0, 0.0, 0.0]]))
    assert dx == pytest.approx(np.array([[-0.33475904, 0.24472847, 0.09003057]]))


def test_logits_whose_exponentials_overflow_have_finite_losses() -> None:
    layer = layer_for("softmax_cross_entropy", 2)
    assert np.array_equal(layer.forward(np.array([[1e4, 0.0]])), [[0.0, 1e4]])
