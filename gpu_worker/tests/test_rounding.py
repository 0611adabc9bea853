"""Lost digits are only named where rounding lost them, and not where a constant is slightly off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.judge.diagnosis import search as diagnosis
from gpu_worker.judge.strength.rehearsal import rehearse

FACTOR = 1.0 + 1e-7
Step = Callable[..., Any]


def named(slug: str, steps: dict[str, Step]) -> list[str]:
    """Return what the reference is named with some of its steps replaced; it must fail."""
    exercise = get(slug)
    reference = getattr(exercise.module("reference_numpy"), exercise.class_name)
    runs = rehearse(exercise, type("Submitted", (reference,), steps), 5)
    assert any(not item.verdict.passed for run in runs for item in run)
    return [mistake.id for mistake in diagnosis.diagnose(exercise, runs)]


def step_of(slug: str, name: str) -> Step:
    exercise = get(slug)
    step: Step = getattr(getattr(exercise.module("reference_numpy"), exercise.class_name), name)
    return step


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the search for pairs, which none of these is about."""
    monkeypatch.setattr(diagnosis._Search, "pair", lambda search: None)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("rmsnorm", "projection"),
        ("layernorm", "mean_gradient"),
        ("layernorm", "mean"),
        ("softmax_cross_entropy", "probabilities"),
    ],
)
def test_a_factor_on_one_term_is_not_called_lost_digits(slug: str, name: str) -> None:
    step = step_of(slug, name)
    assert named(slug, {name: lambda *arguments: step(*arguments) * FACTOR}) == []


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("slug", "name", "step"),
    [
        (
            "rmsnorm",
            "gradient_x",
            lambda self, d: (
                (self.weighted(d) * FACTOR - self.xhat * self.projection(d)) * self.rstd
            ),
        ),
        (
            "layernorm",
            "scale_and_shift",
            lambda self, xhat: (
                xhat * self.gamma.astype(xhat.dtype) + self.beta.astype(xhat.dtype) * FACTOR
            ),
        ),
        (
            "softmax_cross_entropy",
            "losses",
            lambda self: np.log(self.total) - self.shifted * FACTOR,
        ),
    ],
)
def test_a_factor_on_a_term_that_is_not_a_step_is_not_called_lost_digits(
    slug: str, name: str, step: Step
) -> None:
    assert named(slug, {name: step}) == []


@pytest.mark.usefixtures("alone")
def test_a_constant_added_to_one_term_is_not_called_lost_digits() -> None:
    step = step_of("layernorm", "projection")
    assert named("layernorm", {"projection": lambda *arguments: step(*arguments) + 1e-8}) == []


@pytest.mark.usefixtures("alone")
def test_two_factors_at_once_are_not_called_lost_digits() -> None:
    weighted, mean = step_of("layernorm", "weighted"), step_of("layernorm", "mean_gradient")
    steps: dict[str, Step] = {
        "weighted": lambda *arguments: weighted(*arguments) * FACTOR,
        "mean_gradient": lambda *arguments: mean(*arguments) * (1.0 - 2e-7),
    }
    assert named("layernorm", steps) == []


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("rmsnorm", "projection"),
        ("rmsnorm", "reciprocal_rms"),
        ("layernorm", "mean_gradient"),
        ("layernorm", "mean"),
    ],
)
def test_one_term_that_is_rounded_to_float32_is_named(slug: str, name: str) -> None:
    step = step_of(slug, name)

    def rounded(*arguments: Any) -> Any:
        values = step(*arguments)
        return values.astype(np.float32).astype(values.dtype)

    assert named(slug, {name: rounded}) == ["float32-inside"]


def test_an_error_explained_by_a_rows_rounding_has_no_name() -> None:
    # The judge looks at each number's own terms; a mistake is granted the largest of the row.
    scale = step_of("rmsnorm", "scale")

    def off_where_small(self: Any, xhat: Any) -> Any:
        y = scale(self, xhat)
        largest = np.abs(y).max(axis=-1, keepdims=True, initial=0.0)
        small = np.abs(y) < 0.1 * largest
        unit = np.finfo(self.dtype).eps
        return np.where(small & (self.dtype == np.float32), y + 16 * unit * largest, y)

    assert named("rmsnorm", {"scale": off_where_small}) == []
