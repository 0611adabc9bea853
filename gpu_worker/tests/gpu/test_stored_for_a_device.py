"""The submissions stored for a device, and the cases that only a device runs.

What they come to on a device only `bench/device.py` sees. Here each is graded on a processor, with
the outcome that its header says it has there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.stored import Stored, stored_for_device
from gpu_worker.gpu import cases
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.families import draw_shape
from gpu_worker.judge.cases.reference import expected_results
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.device.library import laid_out
from gpu_worker.sandbox.inside.script import arrange
from gpu_worker.tests.cupy.conftest import GradeCupy

ON_A_DEVICE_ALONE = {
    "index_of_32_bits",
    "rows_in_the_second_dimension",
    "skips_large_arrays",
    "vectors_by_length_alone",
}
"""Wrong, and nothing on a processor shows it."""
CATALOGUE = {
    *map(str, (*range(1, 15), 25, 26, 27, 28, 30, 35, 36, 37, 38)),
    *("N12", "N36", "N37"),
}
NEED_HIDDEN_CASES = {
    "cached_by_identity",
    "cached_by_pointer",
    "drifts_after_five_calls",
    "first_answer_replayed",
    "last_block_missing",
    "one_output_for_all",
}
CUPY = [slug for slug in slugs() if Track.CUPY in get(slug).tracks]


def every() -> list[Stored]:
    return [item for slug in slugs() for item in stored_for_device(get(slug))]


@pytest.mark.parametrize("submission", every(), ids=lambda item: item.path.stem)
def test_each_has_the_outcome_on_a_processor_that_its_header_says(
    submission: Stored, grade_cupy: GradeCupy
) -> None:
    name = submission.path.stem
    # Which known mistake it resembles is not the question, and takes the longest to answer.
    graded = grade_cupy(
        submission.source,
        submission.slug,
        cases="all" if name in NEED_HIDDEN_CASES else "public",
        limits={"wall_seconds": 1.0} if name == "endless_kernel" else None,
        timed=False,
        named=False,
    )
    assert graded.outcome in submission.functional, graded.report.failure


def test_the_catalogues_cheats_for_a_device_are_stored_with_what_they_do() -> None:
    found = every()
    assert {number for item in found for number in item.catalogue} >= CATALOGUE
    assert all(item.outcomes and item.functional and item.device for item in found)
    alone = {
        item.path.stem
        for item in found
        if "accepted" in item.functional and "accepted" not in item.outcomes
    }
    assert alone == ON_A_DEVICE_ALONE


# --- the cases -----------------------------------------------------------------------------------
def few_rows(monkeypatch: pytest.MonkeyPatch, slug: str) -> list[Case]:
    """Draw an exercise's cases for a device, with fewer of the many rows."""
    drawn = cases.CaseDrawer

    class Smaller(drawn):  # type: ignore[valid-type, misc]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.wanted = self.shape
            self.shape = (min(self.shape[0], 50), *self.shape[1:])

    monkeypatch.setattr(cases, "CaseDrawer", Smaller)
    return cases.device_cases(get(slug), 7)


@pytest.mark.parametrize("slug", CUPY)
def test_each_exercise_of_the_track_has_cases_for_a_device(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = get(slug)
    found = few_rows(monkeypatch, slug)
    assert {case.group for case in found} <= {group.id for group in exercise.case_groups}
    offset = [case.dtype.name for case in found if case.layout == "offset"]
    wanted = ("float32", "float16", "bfloat16")
    assert offset == [name for name in wanted if exercise.has_kernels_for(name)]
    assert "float32" in offset
    for case in found:
        assert expected_results(exercise, case)


def test_there_are_more_rows_than_blocks_in_the_second_dimension() -> None:
    rows, _ = draw_shape("many-rows", np.random.default_rng(1))
    assert rows > 3 * 65_535


def test_the_offset_layout_puts_an_array_where_no_vector_may_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[tuple[int, Any]] = []

    class Pointer:
        def __add__(self, offset: int) -> int:
            return offset

    class Cupy:
        @staticmethod
        def asarray(values: Any) -> Any:
            return type("Block", (), {"data": Pointer()})()

        @staticmethod
        def ndarray(shape: Any, dtype: Any, pointer: int, strides: Any) -> Any:
            placed.append((pointer, strides))

    for case in few_rows(monkeypatch, "rmsnorm"):
        for value in case.script.arrays:
            if value.layout == "offset":
                arranged = arrange(value)
                assert arranged.flags.c_contiguous
                np.testing.assert_array_equal(arranged, value.values)
                laid_out(Cupy, arranged)
                # Device memory begins at multiples of 256.
                assert placed[-1] == (case.dtype.itemsize, arranged.strides)
    assert len(placed) == 6
