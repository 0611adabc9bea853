"""Every stored submission gets the outcome, and where it says so the diagnosis, of its header."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.exercises import get, on_track, slugs
from gpu_worker.exercises.stored import HeaderError, Stored, stored
from gpu_worker.messages.protocol import Track
from gpu_worker.tests.conftest import Grade
from gpu_worker.tests.kinds import each_or_long
from gpu_worker.tests.once import worked_out_once
from gpu_worker.tests.shipped import SHIPPED, shipped

SEED = 1
"""One for all test runs, so that each tests the same; many are tried by python -m bench."""

CHEATS = {
    str(number)
    for number in (*range(1, 14), *range(16, 27), *range(31, 35), 38, 39, *range(42, 49))
}
TRAPS = {f"N{number}" for number in range(1, 38)}
NOT_HERE = {
    "N4": "squares above 1.8e19 overflow in float32 everywhere; the families stay below",
    "N5": "bfloat16 is not a dtype of this track",
    "N12": "misaligned vector loads are a matter of kernels",
    "N13": "blocks and threads are a matter of kernels",
    "N18": "D = 0 is outside the contract",
    "N21": "integer input is outside the contract",
    "N31": "backward before forward is never called",
    "N35": "gamma has the dtype of x by contract",
    "N36": "more than 2**31 elements do not fit into the limits",
    "N37": "grid sizes are a matter of kernels",
}


@pytest.fixture(scope="module", autouse=True)
def _one_seed() -> Iterator[None]:
    with worked_out_once():
        yield


def every(kind: str) -> list[Stored]:
    return [item for slug in slugs() for item in stored(get(slug), kind)]  # type: ignore[arg-type]


@pytest.mark.parametrize("submission", every("correct"), ids=lambda item: item.id)
def test_correct_programs_pass(submission: Stored, grade: Grade) -> None:
    graded = grade(submission.source, submission.slug, timed=False, seed=SEED)
    explained = (graded.report.failure, graded.report.worst, graded.report.receipt)
    assert graded.outcome == "accepted", explained
    assert graded.score == 1.0
    assert all(group.passed for group in graded.report.groups)


@pytest.mark.parametrize("submission", each_or_long(every("wrong")))
def test_wrong_programs_get_their_outcome_and_diagnosis(submission: Stored, grade: Grade) -> None:
    graded = grade(submission.source, submission.slug, limits=submission.limits, seed=SEED)
    explained = (graded.report.failure, graded.report.worst, graded.report.receipt)
    named = [mistake.id for mistake in graded.report.mistakes]
    assert submission.complaint(graded.outcome, named) == "", explained
    assert graded.score < 1.0
    assert graded.report.failure is not None


@pytest.mark.parametrize("slug", shipped(Track.NUMPY))
def test_each_exercise_keeps_enough_submissions(slug: str) -> None:
    assert len(stored(get(slug), "correct")) >= SHIPPED[slug].correct > 0
    assert len(stored(get(slug), "wrong")) >= SHIPPED[slug].wrong > 0


def test_every_cheat_and_numeric_trap_of_the_catalogue_is_stored() -> None:
    numbers = {
        number for kind in ("correct", "wrong") for s in every(kind) for number in s.catalogue
    }
    assert numbers >= CHEATS
    assert numbers & TRAPS == TRAPS - NOT_HERE.keys()
    assert numbers <= {*map(str, range(1, 49))} | TRAPS


def test_correct_programs_of_the_catalogue_are_stored() -> None:
    honest = {number for item in every("correct") for number in item.catalogue}
    assert honest >= {"44", "47", "N7", "N11", "N27", "N32", "N33"}


@pytest.mark.parametrize("text", ["x = 1\n", "# outcome: accepted\n# limits: wall_seconds 1\n"])
def test_a_stored_submission_without_a_usable_header_is_reported_by_name(
    tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "submissions" / "wrong"
    folder.mkdir(parents=True)
    (folder / "nameless.py").write_text(text, encoding="utf-8")
    with pytest.raises(HeaderError, match="nameless"):
        stored(dataclasses.replace(get("rmsnorm"), folder=tmp_path), "wrong")


@pytest.mark.parametrize("slug", on_track(Track.NUMPY))
def test_the_starter_loads_and_is_not_accepted(slug: str, grade: Grade) -> None:
    graded = grade(get(slug).starter("numpy"), slug, cases="public")
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert "NotImplementedError" in graded.report.failure.traceback


def test_sums_with_many_roundings_are_still_named(grade: Grade) -> None:
    """With these inputs the roundings of dozens of float16 sums go one way."""
    (wrong,) = [item for item in every("wrong") if item.id == "rmsnorm-wrong-dgamma_accumulates"]
    graded = grade(wrong.source, seed=0x97492FA079D80EC7DD175108F0F416FF)
    assert [mistake.id for mistake in graded.report.mistakes] == ["dgamma-accumulates"]
