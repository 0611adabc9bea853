"""Stored submissions of the CuPy track get the outcome, mistakes and findings of their header."""

from __future__ import annotations

import pytest

from gpu_worker.exercises import get, one_file, slugs
from gpu_worker.exercises.stored import KINDS, Stored, stored
from gpu_worker.messages.protocol import Track
from gpu_worker.tests.cupy.conftest import GradeCupy
from gpu_worker.tests.kinds import each_or_long

FINDINGS = {
    *("argument-count", "atomic-sum", "compile-error", "divergent-barrier", "global-race"),
    *("half-accumulation", "index-overflow", "integer-division", "launch-size"),
    *("misaligned-access", "missing-barrier", "warp-size"),
    *("order-dependent", "out-of-bounds-read", "out-of-bounds-write", "read-after-free"),
    "shared-size",
    *("uninitialised-global", "uninitialised-shared", "unwritten-output", "wrong-array-type"),
    "wrong-scalar-type",
}
NEED_HIDDEN_CASES = {
    "array_expressions",
    "atomic_sums_of_a_few_blocks",
    "cached_by_address",
    "computed_by_the_host",
    "copies_beyond_the_row",
    "divided_by_the_threads",
    "eight_bytes",
    "fused_function",
    "first_warp_only",
    "half_precision_sum",
    "half_of_each_warp",
    "half_the_warp_summed",
    "layout_ignored",
    "long_rows_read_again",
    "one_at_a_time",
    "one_pass_variance",
    "one_pass_variance_in_a_kernel",
    "part_for_each_row",
    "one_sweep_and_the_output",
    "pairs_misaligned",
    "product_beyond_32_bits",
    "reads_for_each_sum",
    "reads_x_twice",
    "registers_for_too_few_threads",
    "row_as_long_as_the_block",
    "row_in_an_array_of_a_thread",
    "row_in_shared_memory",
    "rows_misaligned",
    "sixteen_elements_a_thread",
    "square_of_the_mean_subtracted",
    "squares_in_memory",
    "sum_in_the_first_lane",
    "sum_in_the_first_warp",
    "sums_not_added",
    "thread_per_column",
    "threads_of_a_block_as_many_as_columns",
    "three_kernels",
    "twenty_elements_a_thread",
    "two_kernels",
    "vectors_misaligned",
    "wide_loads_of_gamma",
}
"""All others fail in the public cases already: the hidden ones would only take longer."""


def every(kind: str) -> list[Stored]:
    return [item for slug in slugs() for item in stored(get(slug), kind, Track.CUPY)]  # type: ignore[arg-type]


def quickest_first(kind: str) -> list[Stored]:
    """Return all of a kind, with those last that take the hidden cases as well."""
    return sorted(every(kind), key=lambda item: item.path.stem in NEED_HIDDEN_CASES)


UNHURRIED = {"wall_seconds": 120.0, "build_seconds": 240.0}
"""How long right programs take to build is measured elsewhere, on a machine that is not busy."""


@pytest.mark.parametrize("submission", each_or_long(quickest_first("correct")))
def test_correct_programs_pass(submission: Stored, grade_cupy: GradeCupy) -> None:
    graded = grade_cupy(submission.source, submission.slug, timed=False, limits=UNHURRIED)
    explained = (graded.report.failure, graded.report.worst, graded.report.findings)
    assert graded.outcome == "accepted", explained
    assert not [finding for finding in graded.report.findings if finding.severity == "error"]


@pytest.mark.parametrize("slug", [one for one in slugs() if Track.CUPY in get(one).tracks])
def test_the_reference_is_accepted_and_moves_little(slug: str, grade_cupy: GradeCupy) -> None:
    source = (get(slug).folder / "reference_cupy.py").read_text(encoding="utf-8")
    graded = grade_cupy(source, slug)
    assert graded.outcome == "accepted", (graded.report.failure, graded.report.worst)
    assert graded.report.counted is not None


@pytest.mark.parametrize("submission", each_or_long(quickest_first("wrong")))
def test_wrong_programs_get_what_their_header_says(
    submission: Stored, grade_cupy: GradeCupy
) -> None:
    public = submission.path.stem not in NEED_HIDDEN_CASES
    graded = grade_cupy(
        submission.source,
        submission.slug,
        limits=submission.limits,
        cases="public" if public else "all",
    )
    named = [mistake.id for mistake in graded.report.mistakes]
    found = [finding.kind for finding in graded.report.findings]
    explained = (graded.report.failure, graded.report.worst, graded.report.findings)
    assert submission.complaint(graded.outcome, named, found) == "", explained
    assert graded.score < 1.0


def test_the_fused_references_are_stored_as_they_are_now() -> None:
    programs = one_file.programs()
    assert len(programs) == 2
    for path, text in programs.items():
        assert path.read_text(encoding="utf-8") == text, (
            "run: python -m gpu_worker.exercises.one_file"
        )


def test_every_kind_of_wrong_kernel_is_stored() -> None:
    assert {kind for item in every("wrong") for kind in item.findings} >= FINDINGS
    assert {number for kind in KINDS for item in every(kind) for number in item.catalogue} >= {
        *("3", "4", "12", "14", "29", "30", "31", "33", "37", "38", "43", "N12", "N13", "N14"),
    }
    assert any(not item.has_kernels for item in every("correct"))
