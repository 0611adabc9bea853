"""The cases of a grading: complete, fresh, small, and right for the references."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_worker.exercises import get, on_track, slugs
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import casegen, families
from gpu_worker.judge.cases.case import Case, ScriptBuilder
from gpu_worker.judge.cases.reference import expected_results, reference_class
from gpu_worker.judge.strength.rehearsal import play_case
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.wire import ArrayValue, total_bytes
from gpu_worker.tests.shipped import shipped

MEGABYTE = 1 << 20
DTYPES = ("float16", "float32", "float64")
LAYOUTS = ("transposed", "strided", "reversed", "fortran")
SEQUENCES = (
    *("two-forwards", "two-backwards", "new-parameters", "interleaved", "small-large-small"),
    *("three-times", "refilled", "near-copies", "many-calls"),
    *("strangers", "ranks-in-turn", "dtypes-in-turn", "lengths-in-turn"),
    *("same-dout", "same-bytes-reshaped"),
)


def drawn(slug: str, seed: int) -> list[Case]:
    return casegen.hidden_cases(get(slug), seed)


def begun(slug: str, seed: int) -> list[casegen.CaseDrawer]:
    """Return what a grading's cases are drawn by: their families, dtypes and shapes alone."""
    draw = np.random.default_rng(seed)
    return [casegen.CaseDrawer(get(slug), plan, draw) for plan in get(slug).plans]


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_weights_add_up_and_every_group_has_cases(slug: str) -> None:
    exercise = get(slug)
    assert math.fsum(group.weight for group in exercise.groups) == pytest.approx(1.0)
    cases = casegen.public_cases(exercise) + drawn(slug, 1)
    assert {case.group for case in cases} == {group.id for group in exercise.groups}


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_a_grading_has_many_cases(slug: str) -> None:
    assert len(casegen.public_cases(get(slug)) + drawn(slug, 1)) >= 90


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_every_family_occurs_in_every_grading(slug: str) -> None:
    wanted = {"normal", "uniform", "mean-three", "outlier", "constant-rows", "zero-rows"}
    wanted |= {"mixed-scales", "alternating", "bad-rows", "subnormal"}
    wanted |= {*families.SCALES, *families.LARGE}
    for seed in range(5):
        assert wanted <= {case.family for case in drawn(slug, seed)}


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_essential_shapes_layouts_and_dtypes_occur_in_every_grading(slug: str) -> None:
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


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_over_time_every_family_meets_every_dtype(slug: str) -> None:
    seen = {(case.plan.family, case.dtype.name) for seed in range(60) for case in begun(slug, seed)}
    missing = {(family, dtype) for family in families.DRAWN for dtype in DTYPES} - seen
    assert not missing


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_every_sequence_of_calls_occurs_in_every_grading(slug: str) -> None:
    for seed in range(5):
        assert {case.layout for case in drawn(slug, seed)} >= set(SEQUENCES)


def test_row_lengths_stay_within_the_contract() -> None:
    seen = {case.shape[-1] for seed in range(150) for case in begun("rmsnorm", seed)}
    wanted = {1, 2, 3, 7, 31, 32, 33, 64, 100, 127, 128, 129, 255, 1000, 1023, 1024, 1025}
    assert seen >= wanted | {2048, 4096, 4097, 8192, 16384, 65536}


def of_sequence(slug: str, name: str, seed: int = 3) -> Case:
    return next(case for case in drawn(slug, seed) if case.layout == name)


def forwards(case: Case) -> list[tuple[int, np.ndarray]]:
    """Return the instance and the x of each forward."""
    arrays = case.script.arrays
    return [
        (op.instance, arrays[op.array].values)
        for op in case.script.operations
        if op.kind == "forward"
    ]


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
@pytest.mark.parametrize("seed", range(5))
def test_unrelated_inputs_share_neither_length_nor_rank_nor_dtype(slug: str, seed: int) -> None:
    (one, x), (other, y) = forwards(of_sequence(slug, "strangers", seed))
    assert one != other
    assert x.shape[-1] != y.shape[-1]
    assert x.ndim != y.ndim
    assert x.dtype != y.dtype


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_one_instance_meets_every_rank_and_an_empty_batch(slug: str) -> None:
    calls = forwards(of_sequence(slug, "ranks-in-turn"))
    assert {instance for instance, _ in calls} == {0}
    assert {x.ndim for _, x in calls} == {1, 2, 3, 4}
    assert any(x.size == 0 for _, x in calls)


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
@pytest.mark.parametrize("seed", range(3))
def test_one_instance_meets_every_dtype_narrow_before_wide_and_back(slug: str, seed: int) -> None:
    case = of_sequence(slug, "dtypes-in-turn", seed)
    assert [x.dtype.name for _, x in forwards(case)] == [*DTYPES, DTYPES[0]]
    assert [item.dtype.name for item in expected_results(get(slug), case)][0] == "float16"


def test_both_instances_get_the_same_x_with_different_eps() -> None:
    for seed in range(5):
        case = of_sequence("rmsnorm", "interleaved", seed)
        made = [op.eps for op in case.script.operations if op.kind == "new"]
        assert made[0] != made[1]
        calls = forwards(case)
        assert {instance for instance, x in calls if x is calls[0][1]} == {0, 1}


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_dout_has_its_own_layouts(slug: str) -> None:
    pairs = set()
    for case in drawn(slug, 1):
        arrays = case.script.arrays
        places = {op.kind: op.array for op in case.script.operations}
        if case.layout in ("contiguous", *LAYOUTS) and "backward" in places:
            pairs.add((arrays[places["forward"]].layout, arrays[places["backward"]].layout))
    assert {("fortran", "contiguous"), ("contiguous", "fortran")} <= pairs


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_rows_of_dout_with_nan_or_infinity_are_not_compared_and_the_others_are(slug: str) -> None:
    spoilt = [
        case
        for case in drawn(slug, 2)
        if case.bad_rows is not None and np.isfinite(forwards(case)[0][1]).all()
    ]
    assert spoilt
    for case in spoilt:
        assert case.bad_rows is not None
        assert case.bad_rows.sum() == 2 < case.bad_rows.size
        assert case.checks == {"dx"}


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_some_batches_are_larger_than_those_people_try(slug: str) -> None:
    for seed in range(5):
        cases = begun(slug, seed)
        sizes = [
            (math.prod(case.shape), len(case.shape), case.plan.layout, case.dtype.name)
            for case in cases
        ]
        assert max(size for size, _, _, dtype in sizes if dtype == "float64") * 8 > MEGABYTE
        assert max(size for size, _, _, dtype in sizes if dtype == "float16") > 70_000
        assert max(size for size, _, layout, _ in sizes if layout == "fortran") > 40_000
        assert max(size for size, rank, _, _ in sizes if rank > 2) > 4_096
        assert max(size for size, rank, _, _ in sizes if rank == 1) > 128
        assert max(math.prod(case.shape[:-1]) for case in cases) > np.iinfo(np.int16).max
        assert any(rank == 4 and size == 0 for size, rank, _, _ in sizes)


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_every_row_length_modulo_eight_occurs_in_every_grading(slug: str) -> None:
    for seed in range(5):
        calls = forwards(of_sequence(slug, "lengths-in-turn", seed))
        assert sorted(x.shape[-1] % 8 for _, x in calls) == list(range(8))
        assert all(x.shape[-1] >= 16 for _, x in calls)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_an_uneven_dout_match_their_description(dtype: str) -> None:
    draw = np.random.default_rng(0)
    shape = (6, 33)
    for _ in range(20):
        drawn_dout = families.draw_dout("uneven", draw, shape, np.dtype(dtype), lambda: np.ones(0))
        dout = drawn_dout.astype(dtype).astype(np.float64)
        assert np.isfinite(dout).all()
        largest = np.abs(dout).max(axis=-1)
        assert (largest < 1e-5).sum() == 1
        assert (largest > 8e3).sum() == 1
        assert [math.fsum(row) for row in dout].count(0.0) == 1
        assert (dout == 1.0).all(axis=-1).sum() == 1


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_every_kind_of_dout_occurs_in_every_grading(slug: str) -> None:
    exercise = get(slug)
    assert {plan.dout for plan in exercise.plans if "dx" in plan.checks} >= {
        *("uneven", "padded", "zeros", "ones", "one-hot", "random"),
    }


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_one_dout_is_used_with_two_x_and_two_parameters(slug: str) -> None:
    case = of_sequence(slug, "same-dout")
    places = [op.array for op in case.script.operations if op.kind == "backward"]
    assert len(places) == 3
    assert len(set(places)) == 1
    first, second, third = (x.tobytes() for _, x in forwards(case))
    assert first != second == third


def test_instances_with_equal_parameters_differ_in_eps() -> None:
    for seed in range(3):
        case = of_sequence("rmsnorm", "equal-parameters", seed)
        operations = case.script.operations
        gammas = [case.script.arrays[op.array].values for op in operations if op.kind == "set"]
        assert gammas[0].tobytes() == gammas[1].tobytes()
        assert len({op.eps for op in operations if op.kind == "new"}) == 2
        assert len({op.array for op in operations if op.kind == "forward"}) == 1


def test_the_same_bytes_come_in_two_shapes() -> None:
    (_, matrix), (_, batch) = forwards(of_sequence("rmsnorm", "same-bytes-reshaped"))
    assert matrix.ndim != batch.ndim
    assert matrix.shape[-1] == batch.shape[-1]
    assert matrix.tobytes() == batch.tobytes()


def test_near_copies_differ_in_a_few_elements_only() -> None:
    case = next(case for case in drawn("rmsnorm", 3) if case.layout == "near-copies")
    filled = [op for op in case.script.operations if op.kind == "fill" and op.name == "x"]
    first = case.script.arrays[filled[0].instance].values
    for operation in filled:
        near = case.script.arrays[operation.array].values
        assert 1 <= np.count_nonzero(near != first) <= 3


def test_a_refilled_array_is_the_same_array_with_new_numbers() -> None:
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


class OtherDtypeError(AssertionError):
    """What the judge's own replay of a class does not catch."""


@pytest.mark.parametrize("slug", slugs())
def test_parameters_and_dout_have_the_dtype_of_x_in_every_case(slug: str) -> None:
    exercise = get(slug)

    class Strict(reference_class(exercise)):  # type: ignore[misc]
        def forward(self, x: np.ndarray) -> np.ndarray:
            self.dtype = x.dtype
            self.look()
            return super().forward(x)  # type: ignore[no-any-return]

        def backward(self, dout: np.ndarray) -> np.ndarray:
            self.look(dout)
            return super().backward(dout)  # type: ignore[no-any-return]

        def look(self, *more: np.ndarray) -> None:
            for array in (*(getattr(self, name) for name in exercise.parameters), *more):
                if array.dtype != self.dtype:
                    raise OtherDtypeError(f"{array.dtype} beside {self.dtype}")

    track = exercise.tracks[-1]
    for case in casegen.public_cases(exercise) + casegen.hidden_cases(exercise, 3, track):
        play_case(Strict, case)
    as_made = {case.dtype.name for case in casegen.public_cases(exercise) if has_casts(case)}
    as_made |= {
        case.dtype.name
        for seed in range(40)
        for case in drawn_of_plan(exercise, "as-made", seed, track)
        if has_casts(case)
    }
    many = exercise.parameters and exercise.has_kernels_for("float64")
    assert len(as_made) > 2 if many else as_made <= {"float32"}


def has_casts(case: Case) -> bool:
    return any(operation.kind == "cast" for operation in case.script.operations)


def drawn_of_plan(exercise: Exercise, parameters: str, seed: int, track: str) -> list[Case]:
    """Draw the cases of the plans that set parameters so, and no others."""
    draw = np.random.default_rng(seed)
    plans = [plan for plan in exercise.plans_for(track) if plan.parameters == parameters]
    return [casegen.CaseDrawer(exercise, plan, draw).draw() for plan in plans]


def test_a_parameter_made_by_the_class_keeps_its_values_and_is_cast_once_per_dtype() -> None:
    exercise = get("layernorm")
    script = ScriptBuilder(exercise, frozenset(exercise.results))
    script.new(0, 2, None, {"beta": np.array([5.0, 6.0], np.float16)})
    for dtype in (np.float16, np.float16, np.float64):
        x = np.array([[1.0, 2.0]], dtype)
        script.forward(0, ArrayValue(x, "contiguous", x.shape))
    operations = script.build(resend=False).operations
    assert [(op.kind, op.name) for op in operations] == [
        *(("new", ""), ("set", "beta")),
        *(("cast", "gamma"), ("forward", ""), ("forward", ""), ("cast", "gamma"), ("forward", "")),
    ]


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_inputs_stay_small(slug: str) -> None:
    for seed in range(20):
        assert sum(total_bytes(case.script.arrays) for case in drawn(slug, seed)) < 10 * MEGABYTE


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_the_reference_is_finite_on_all_cases_of_many_seeds(slug: str) -> None:
    exercise = get(slug)
    for seed in range(10):
        for case in drawn(slug, seed):
            expected_results(exercise, case)


def test_cases_repeat_for_the_same_seed_only() -> None:
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
