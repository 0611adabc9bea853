"""Every stored submission gets the outcome, and where it says so the diagnosis, of its header."""

from __future__ import annotations

import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.tests.conftest import Grade
from gpu_worker.tests.stored import Stored, stored

SEEDS_FOR_CORRECT = 10
SEEDS_FOR_MISTAKES = 2


@pytest.mark.parametrize("submission", stored("correct"), ids=lambda item: item.id)
def test_honest_solutions_pass_whatever_the_seed(submission: Stored, grade: Grade) -> None:
    for _ in range(SEEDS_FOR_CORRECT):
        graded = grade(submission.source, submission.slug)
        explained = (graded.report.failure, graded.report.worst, graded.report.receipt)
        assert graded.outcome == "accepted", explained
        assert graded.score == 1.0
        assert all(group.passed for group in graded.report.groups)


@pytest.mark.parametrize("submission", stored("wrong"), ids=lambda item: item.id)
def test_wrong_solutions_get_their_outcome_and_diagnosis(submission: Stored, grade: Grade) -> None:
    for _ in range(SEEDS_FOR_MISTAKES if submission.mistake else 1):
        graded = grade(submission.source, submission.slug, limits=submission.limits)
        explained = (graded.report.failure, graded.report.worst, graded.report.receipt)
        assert graded.outcome in submission.outcomes, explained
        assert graded.score < 1.0
        assert graded.report.failure is not None
        named = [mistake.id for mistake in graded.report.mistakes]
        if submission.mistake:
            assert named == [submission.mistake], explained
        elif submission.diagnosis == "none":
            assert named == []


@pytest.mark.parametrize("slug", slugs())
def test_each_exercise_keeps_enough_submissions(slug: str) -> None:
    correct = [item for item in stored("correct") if item.slug == slug]
    wrong = [item for item in stored("wrong") if item.slug == slug]
    assert len(correct) >= 6
    assert len(wrong) >= 20


@pytest.mark.parametrize("slug", slugs())
def test_the_starter_loads_and_is_not_accepted(slug: str, grade: Grade) -> None:
    graded = grade(get(slug).starter("numpy"), slug, cases="public")
    assert graded.outcome == "runtime_error"
    assert graded.report.failure is not None
    assert "NotImplementedError" in graded.report.failure.traceback
