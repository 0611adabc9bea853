"""Grades trusted classes as if they were submissions: no sandbox, same cases and comparison.

For measuring the bank of known mistakes, never for a learner's code.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.reference import Expected, expected_results
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.verdict.compare import judge_case
from gpu_worker.judge.verdict.transcript import PlayedCase, Raised
from gpu_worker.sandbox.inside.script import arrange, play
from gpu_worker.sandbox.inside.wire import Operation

Drawn = list[list[tuple[Case, list[Expected]]]]
"""The cases of the two runs of a grading, each with what a right submission answers."""


def drawn(exercise: Exercise, seed: int) -> Drawn:
    """Draw the public and the hidden cases of a seed; any number of classes may be played on them.

    Raises:
        JudgeError: a number that is compared is not finite.
    """
    runs = (casegen.public_cases(exercise), casegen.hidden_cases(exercise, seed))
    return [[(case, expected_results(exercise, case)) for case in cases] for cases in runs]


def rehearse(
    exercise: Exercise,
    cls: Any,
    seed: int,
    *,
    wide_results: bool = False,
    cases: Drawn | None = None,
) -> list[list[JudgedCase]]:
    """Play and judge the public and the hidden cases of a seed; a list for each of the two runs.

    `wide_results` converts inputs to float64 first, as a class does that leaks it. `cases` are
    those of the seed, where they were drawn before.
    """
    runs = []
    for pairs in cases or drawn(exercise, seed):
        # State on the class must not outlive the run, as in the runner.
        fresh = type(cls.__name__, (cls,), {"shared": {}})
        run = []
        for case, expected in pairs:
            played = play_case(fresh, case, wide_results=wide_results)
            verdict = judge_case(case, played, expected, exercise.gradients)
            run.append(JudgedCase(case, played, expected, verdict))
        runs.append(run)
    return runs


def play_case(cls: Any, case: Case, *, wide_results: bool = False) -> PlayedCase:
    """Play a case on a trusted class as the runner would on a submission."""
    arrays = [arrange(value) for value in case.script.arrays]
    if wide_results:
        arrays = [array.astype(np.float64) for array in arrays]
    result = PlayedCase()
    kept: list[Any] = []

    def emit(position: int, operation: Operation, layer: Any, value: Any) -> None:
        if operation.send:
            result.results.append(np.array(value))
            kept.append(value)

    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            play(cls, case.script.operations, arrays, emit)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        result.problem = Raised(type(error).__name__, "", "", 0)
        return result
    result.again = [np.array(value) for value in kept] if case.script.resend else []
    types = [value.values.dtype for value in case.script.arrays]
    result.inputs = [array.astype(dtype) for array, dtype in zip(arrays, types, strict=True)]
    result.complete = True
    return result
