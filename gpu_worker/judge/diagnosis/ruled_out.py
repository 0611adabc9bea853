"""Rules out pairs of mistakes that would fail a public case which the submission passes.

There are thousands of pairs, and most differ from the reference in the first public cases already.
Those cases are the same in every grading, so each process works this out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from gpu_worker.exercises import get
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.reference import expected_results, play_exactly, reference_class
from gpu_worker.judge.diagnosis.agreement import JudgedCase, is_far_off
from gpu_worker.judge.diagnosis.hypotheses import Hypothesis, compose, fresh, pairs
from gpu_worker.judge.verdict.compare import CaseVerdict
from gpu_worker.judge.verdict.transcript import PlayedCase

_BY_NONE: Final = -1

Pair = tuple[KnownMistake, KnownMistake]


@cache
def pairs_of(slug: str) -> Pairs:
    """Return the pairs of an exercise's mistakes, with what this process knows of them."""
    return Pairs(get(slug))


class Pairs:
    """The pairs of an exercise, and the first public case that rules each of them out."""

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._pairs = list(pairs(exercise, exercise.module("mistakes").MISTAKES))
        self._ruled_out_by: dict[int, int] = {}
        self._hypotheses: dict[int, Hypothesis] = {}
        self.refuted_at: dict[tuple[type | None, ...], tuple[int, int]] = {}
        """The run and the case, by their numbers, that last spoke against a hypothesis: the cases
        of another grading are drawn from the same plans, so that they often do again."""
        self._right = [_played_right(exercise, case) for case in casegen.public_cases(exercise)]

    def possible(
        self, passed: AbstractSet[int], may_explain: Callable[[Pair], bool]
    ) -> Iterator[Hypothesis]:
        """Yield the pairs that a submission may have made which passes these public cases.

        They are given by their numbers, from 0. `may_explain` is asked of each pair first.
        """
        for number, pair in enumerate(self._pairs):
            if self._ruled_out_by.get(number) in passed or not may_explain(pair):
                continue
            hypothesis = self._hypothesis(number)
            if passed and number not in self._ruled_out_by:
                self._ruled_out_by[number] = self._rule_out(hypothesis)
                if self._ruled_out_by[number] in passed:
                    continue
            yield hypothesis

    def _hypothesis(self, number: int) -> Hypothesis:
        """Return a pair's hypothesis, whose class is made once."""
        if number not in self._hypotheses:
            variant = compose(self._exercise, self._pairs[number])
            assert variant is not None  # noqa: S101  or it would be none of the pairs
            self._hypotheses[number] = Hypothesis(self._pairs[number], variant)
        return self._hypotheses[number]

    def _rule_out(self, hypothesis: Hypothesis) -> int:
        """Return the first public case in which the pair gives what nobody has who passes it."""
        cls = fresh(hypothesis.variant)
        for number, item in enumerate(self._right):
            if is_far_off(self._exercise, hypothesis, cls, item):
                return number
        return _BY_NONE


def _played_right(exercise: Exercise, case: Case) -> JudgedCase:
    """Return the case as the reference plays it, in the case's own dtype like a submission."""
    results = play_exactly(exercise, reference_class(exercise), case, native=True)
    played = PlayedCase(results=[result.value for result in results], complete=True)
    return JudgedCase(case, played, expected_results(exercise, case), CaseVerdict(passed=True))
