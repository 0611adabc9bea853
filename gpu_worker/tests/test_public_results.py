"""What is kept of public cases tells two gradings apart, in the units of the verdict."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.casegen import hidden_cases, public_cases
from gpu_worker.judge.cases.reference import expected_results, play_exactly, reference_class
from gpu_worker.judge.diagnosis.agreement import JudgedCase
from gpu_worker.judge.report.public_results import public_results
from gpu_worker.judge.verdict.compare import judge_case
from gpu_worker.judge.verdict.transcript import PlayedCase
from gpu_worker.messages.protocol import MAX_PUBLIC_ELEMENTS, PublicResult, Report

RMSNORM = get("rmsnorm")


def judged(case: Case) -> JudgedCase:
    """A case as the reference itself answers it, in the case's own dtype."""
    expected = expected_results(RMSNORM, case)
    played = PlayedCase(
        results=[
            result.value
            for result in play_exactly(RMSNORM, reference_class(RMSNORM), case, native=True)
        ],
        inputs=[np.broadcast_to(value.values, value.shape) for value in case.script.arrays],
        complete=True,
    )
    played.again = played.results if case.script.resend else []
    return JudgedCase(case, played, expected, judge_case(case, played, expected, ("dgamma",)))


@pytest.fixture(scope="module")
def public() -> list[JudgedCase]:
    return [judged(case) for case in public_cases(RMSNORM)]


def kept(items: list[JudgedCase]) -> list[PublicResult]:
    return public_results(items, RMSNORM.gradients)


def test_every_result_of_every_public_case_is_kept(public: list[JudgedCase]) -> None:
    found = {(result.case, result.quantity) for result in kept(public)}
    ids = [case.id for case in RMSNORM.public_cases]
    assert found == {(case, quantity) for case in ids for quantity in ("y", "dx", "dgamma")}
    report = Report(public=kept(public))
    assert Report.from_message(report.to_message()) == report


def test_a_difference_by_its_units_is_the_error_of_the_verdict(public: list[JudgedCase]) -> None:
    for item in public:
        results = {result.quantity: result for result in kept([item])}
        worst = item.verdict.worst
        assert worst is not None
        result = results[worst.quantity]
        exact = next(each.value for each in item.expected if each.quantity == worst.quantity)
        values = np.array(result.values, dtype=np.float64).reshape(result.shape)
        errors = np.abs(values - exact) / np.array(result.units).reshape(result.shape)
        assert errors.max() == pytest.approx(worst.units)
        assert result.limit == worst.limit


def test_nothing_is_kept_of_hidden_cases() -> None:
    hidden = [judged(case) for case in hidden_cases(RMSNORM, 1)[:3]]
    assert all(item.played.results for item in hidden)
    assert kept(hidden) == []


def test_results_that_cannot_be_compared_are_left_out(public: list[JudgedCase]) -> None:
    y = public[1].played.results[0]
    broken = y.copy()
    broken[0, 0] = np.nan
    for value, places in ((y[:1], 0), (y.astype(np.int64), 0), (broken, 1)):
        played = dataclasses.replace(public[1].played, results=[value])
        results = kept([dataclasses.replace(public[1], played=played)])
        assert len(results) == places
        assert all(result.values[0] is None for result in results)


def test_the_public_cases_of_no_exercise_are_too_large_to_be_kept(
    public: list[JudgedCase],
) -> None:
    assert max(result.size for item in public for result in item.played.results) < (
        MAX_PUBLIC_ELEMENTS
    )
