"""The cases of a grading: complete, fresh, small, and right for the references."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_worker.exercises import get, on_track
from gpu_worker.judge import casegen, families
from gpu_worker.judge.case import Case
from gpu_worker.judge.reference import expected_results, reference_class
from gpu_worker.judge.rehearsal import play_case
from gpu_worker.protocol import Track
from gpu_worker.sandbox.inside.wire import total_bytes

MEGABYTE = 1 << 20
DTYPES = ("float16", "float32", "float64")
LAYOUTS = ("transposed", "strided", "reversed", "fortran")
SEQUENCES = (
    *("two-forwards", "two-backwards", "new-parameters", "interleaved", "small-large-small"),
    *("three-times", "refilled", "near-copies", "many-calls"),
)


def drawn(slug: str, seed: int) -> list[Case]:
    return casegen.hidden_cases(get(slug), seed)


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_weights_add_up_and_every_group_has_cases(slug: str) -> None:
    exercise = get(slug)
    assert math.fsum(group.weight for group in exercise.groups) == pytest.approx(1.0)
    cases = casegen.public_cases(exercise) + drawn(slug, 1)
    assert {case.group for case in cases} == {group.id for group in exercise.groups}
    assert len(cases) >= 90


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_every_family_is_in_every_grading(slug: str) -> None:
    wanted = {"normal", "uniform", "mean-three", "outlier", "constant-rows", "zero-rows"}
    wanted |= {"mixed-scales", "alternating", "bad-rows", "subnormal"}
    wanted |= {*families.SCALES, *families.LARGE}
    for seed in range(5):
        assert wanted <= {case.family for case in drawn(slug, seed)}


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
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
        if "eps" in get(slug).constructor:
            assert any(case.eps == 0.0 for case in cases)
        kinds = {(len(case.shape), case.dtype.name) for case in cases if case.group == "shapes"}
        assert kinds >= {(rank, dtype) for rank in (1, 2, 3, 4) for dtype in DTYPES}
        laid = {(case.layout, case.dtype.name) for case in cases}
        assert laid >= {(layout, dtype) for layout in LAYOUTS for dtype in DTYPES}
        assert any(case.family == "large" and case.dtype == np.float16 for case in cases)


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_over_time_every_family_meets_every_dtype(slug: str) -> None:
    seen = {(case.family, case.dtype.name) for seed in range(60) for case in drawn(slug, seed)}
    missing = {(family, dtype) for family in families.DRAWN for dtype in DTYPES} - seen
    assert not missing


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_every_sequence_of_calls_is_in_every_grading(slug: str) -> None:
    for seed in range(5):
        assert {case.layout for case in drawn(slug, seed)} >= set(SEQUENCES)


def test_lengths_of_rows_are_those_of_the_contract() -> None:
    seen = {case.shape[-1] for seed in range(150) for case in drawn("rmsnorm", seed)}
    wanted = {1, 2, 3, 7, 31, 32, 33, 64, 100, 127, 128, 129, 255, 1000, 1023, 1024, 1025}
    assert seen >= wanted | {2048, 4096, 4097, 8192, 16384, 65536}


def test_near_copies_differ_in_a_few_elements_only() -> None:
    case = next(case for case in drawn("rmsnorm", 3) if case.layout == "near-copies")
    filled = [op for op in case.script.operations if op.kind == "fill" and op.name == "x"]
    first = case.script.arrays[filled[0].instance].values
    for operation in filled:
        near = case.script.arrays[operation.array].values
        assert 1 <= np.count_nonzero(near != first) <= 3


def test_a_refilled_array_is_the_same_array_with_other_numbers() -> None:
    case = next(case for case in drawn("rmsnorm", 3) if case.layout == "refilled")
    seen: list[tuple[int, bytes]] = []

    class Spy(reference_class(get("rmsnorm"))):  # type: ignore[misc]
        def forward(self, x: np.ndarray) -> np.ndarray:
            seen.append((x.ctypes.data, x.tobytes()))
            return super().forward(x)  # type: ignore[no-any-return]

    play_case(Spy, case)
    assert len(seen) == 3
    assert len({address for address, _ in seen}) == 1
    assert len({content for _, content in seen}) == 3


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_inputs_stay_small(slug: str) -> None:
    for seed in range(20):
        assert sum(total_bytes(case.script.arrays) for case in drawn(slug, seed)) < 4 * MEGABYTE


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
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
