"""Every known mistake, played as if it were a submission, fails and is named."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.judge import casegen
from gpu_worker.judge.compare import judge_case
from gpu_worker.judge.diagnosis import JudgedCase, diagnose
from gpu_worker.judge.reference import expected_results, reference_class
from gpu_worker.judge.rehearsal import play_case, rehearse


def variants() -> list[Any]:
    return [
        pytest.param(slug, known, id=f"{slug}-{known.variant.__name__}")
        for slug in slugs()
        for known in get(slug).module("mistakes").MISTAKES
        if known.variant
    ]


@pytest.mark.parametrize(("slug", "known"), variants())
def test_each_variant_fails_and_is_named_alone(slug: str, known: KnownMistake) -> None:
    exercise = get(slug)
    runs = rehearse(exercise, known.variant, 11, wide_results=known.wide_results)
    assert any(not item.verdict.passed for run in runs for item in run)
    assert [mistake.id for mistake in diagnose(exercise, runs)] == [known.id]


@pytest.mark.parametrize("slug", slugs())
def test_the_reference_passes_its_own_cases_and_has_no_mistake(slug: str) -> None:
    exercise = get(slug)
    runs = rehearse(exercise, reference_class(exercise), 13)
    assert all(item.verdict.passed for run in runs for item in run)
    assert diagnose(exercise, runs) == []


def test_mistakes_that_explain_equally_well_are_all_named() -> None:
    # With a single column, a mean over the batch is a mean over everything.
    exercise = get("rmsnorm")
    case = next(c for c in casegen.hidden_cases(exercise, 14) if c.shape[-1] == 1)
    bank = {known.id: known for known in exercise.module("mistakes").MISTAKES}
    answer = play_case(bank["batch-axis-mean"].variant, case)
    expected = expected_results(exercise, case)
    verdict = judge_case(case, answer, expected, exercise.gradients)
    assert not verdict.passed
    named = diagnose(exercise, [[JudgedCase(case, answer, expected, verdict)]])
    assert {"whole-array-mean", "batch-axis-mean"} <= {mistake.id for mistake in named}
