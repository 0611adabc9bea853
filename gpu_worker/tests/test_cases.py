"""The cases of a grading: complete, fresh, small, and right for the references."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.judge import casegen, families
from gpu_worker.judge.case import Case
from gpu_worker.judge.reference import expected_results
from gpu_worker.sandbox.inside.wire import total_bytes

MEGABYTE = 1 << 20


def drawn(slug: str, seed: int) -> list[Case]:
    return casegen.hidden_cases(get(slug), seed)


@pytest.mark.parametrize("slug", slugs())
def test_weights_add_up_and_every_group_has_cases(slug: str) -> None:
    exercise = get(slug)
    assert math.fsum(group.weight for group in exercise.groups) == pytest.approx(1.0)
    cases = casegen.public_cases(exercise) + drawn(slug, 1)
    assert {case.group for case in cases} == {group.id for group in exercise.groups}
    assert len(cases) >= 40


@pytest.mark.parametrize("slug", slugs())
def test_every_family_is_in_every_grading(slug: str) -> None:
    wanted = {"normal", "uniform", "mean-three", "outlier", "constant-rows", "zero-rows"}
    wanted |= {"mixed-scales", "alternating", "bad-rows", "subnormal"}
    wanted |= {*families.SCALES, *families.LARGE}
    for seed in range(5):
        assert wanted <= {case.family for case in drawn(slug, seed)}


@pytest.mark.parametrize("slug", slugs())
def test_the_essential_shapes_layouts_and_dtypes_are_in_every_grading(slug: str) -> None:
    for seed in range(20):
        cases = drawn(slug, seed)
        dims = [case.shape[-1] for case in cases]
        assert 1 in dims
        assert any(dim % 2 for dim in dims if dim > 1)
        assert any(255 <= dim <= 1025 for dim in dims)
        assert any(dim >= 4096 for dim in dims)
        assert {len(case.shape) for case in cases} == {1, 2, 3, 4}
        assert any(0 in case.shape for case in cases)
        assert {case.dtype.name for case in cases} == {"float16", "float32", "float64"}
        layouts = {case.layout for case in cases}
        assert {"fortran", "transposed", "strided", "reversed", "three-times"} <= layouts
        assert any(case.eps == 0.0 for case in cases)
        assert any(case.family == "large" and case.dtype == np.float16 for case in cases)


@pytest.mark.parametrize("slug", slugs())
def test_inputs_stay_small(slug: str) -> None:
    for seed in range(20):
        assert sum(total_bytes(case.script.arrays) for case in drawn(slug, seed)) < 4 * MEGABYTE


@pytest.mark.parametrize("slug", slugs())
def test_the_reference_is_finite_on_all_cases_of_many_seeds(slug: str) -> None:
    exercise = get(slug)
    for seed in range(10):
        for case in drawn(slug, seed):
            expected_results(exercise, case)


def test_a_seed_repeats_its_cases_and_another_does_not() -> None:
    first, same, other = (
        [case.script.arrays[-1].values.tobytes() for case in drawn("rmsnorm", seed)]
        for seed in (5, 5, 6)
    )
    assert first == same
    assert first != other


def test_seeds_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    np.random.seed(0)
    first = casegen.new_seed()
    np.random.seed(0)
    assert casegen.new_seed() != first
    assert first.bit_length() > 64
