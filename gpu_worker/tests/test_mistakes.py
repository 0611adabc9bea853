"""Every known mistake, played as if it were a submission, fails and is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_worker.exercises import Exercise, get, slugs
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.judge import casegen
from gpu_worker.judge.case import Case
from gpu_worker.judge.compare import judge_case
from gpu_worker.judge.diagnosis import JudgedCase, diagnose
from gpu_worker.judge.reference import expected_results, reference_class
from gpu_worker.judge.transcript import PlayedCase, Raised
from gpu_worker.sandbox.inside.script import arrange, play


def variants() -> list[Any]:
    return [
        pytest.param(slug, known, id=f"{slug}-{known.variant.__name__}")
        for slug in slugs()
        for known in get(slug).module("mistakes").MISTAKES
        if known.variant
    ]


def played(exercise: Exercise, cls: Any, case: Case, *, leak: bool = False) -> PlayedCase:
    """Play a case on a trusted class as the runner would on a submission."""
    arrays = [arrange(value) for value in case.script.arrays]
    if leak:
        arrays = [array.astype(np.float64) for array in arrays]
    result = PlayedCase()

    def emit(position: int, operation: Any, layer: Any, value: Any) -> None:
        if operation.send:
            result.results.append(np.asarray(value))

    try:
        with np.errstate(all="ignore"):
            play(cls, case.script.operations, arrays, emit)
    except (ValueError, TypeError) as error:
        result.problem = Raised(type(error).__name__, "", "", 0)
        return result
    result.again = list(result.results) if case.script.resend else []
    result.inputs = [arrange(value) for value in case.script.arrays]
    result.complete = True
    return result


def judged(
    exercise: Exercise, cls: Any, seed: int, *, leak: bool = False
) -> list[list[JudgedCase]]:
    runs = []
    for cases in (casegen.public_cases(exercise), casegen.hidden_cases(exercise, seed)):
        fresh = type(cls.__name__, (cls,), {"shared": {}})
        run = []
        for case in cases:
            answer = played(exercise, fresh, case, leak=leak)
            expected = expected_results(exercise, case)
            verdict = judge_case(case, answer, expected, exercise.gradients)
            run.append(JudgedCase(case, answer, expected, verdict))
        runs.append(run)
    return runs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("slug", "known"), variants())
def test_each_variant_fails_and_is_named_alone(slug: str, known: KnownMistake) -> None:
    exercise = get(slug)
    runs = judged(exercise, known.variant, 11, leak=known.wide_results)
    assert any(not item.verdict.passed for run in runs for item in run)
    assert [mistake.id for mistake in diagnose(exercise, runs)] == [known.id]


@pytest.mark.parametrize("slug", slugs())
def test_the_reference_passes_its_own_cases_and_has_no_mistake(slug: str) -> None:
    exercise = get(slug)
    runs = judged(exercise, reference_class(exercise), 13)
    assert all(item.verdict.passed for run in runs for item in run)
    assert diagnose(exercise, runs) == []


def test_mistakes_that_explain_equally_well_are_all_named() -> None:
    # With a single column, a mean over the batch is a mean over everything.
    exercise = get("rmsnorm")
    case = next(c for c in casegen.hidden_cases(exercise, 14) if c.shape[-1] == 1)
    bank = {known.id: known for known in exercise.module("mistakes").MISTAKES}
    answer = played(exercise, bank["batch-axis-mean"].variant, case)
    expected = expected_results(exercise, case)
    verdict = judge_case(case, answer, expected, exercise.gradients)
    assert not verdict.passed
    named = diagnose(exercise, [[JudgedCase(case, answer, expected, verdict)]])
    assert {"whole-array-mean", "batch-axis-mean"} <= {mistake.id for mistake in named}
