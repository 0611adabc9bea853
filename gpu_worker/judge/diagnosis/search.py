"""Searches for the known mistakes that explain all results: one alone, or two together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.casegen import MIXED
from gpu_worker.judge.cases.reference import play_exactly, reference_class
from gpu_worker.judge.diagnosis.agreement import (
    JudgedCase,
    explains_case,
    shares_of_tolerance,
    too_coarse,
)
from gpu_worker.judge.diagnosis.cancelled import are_off_by_factors
from gpu_worker.judge.diagnosis.effects import Effects
from gpu_worker.judge.diagnosis.hypotheses import Hypothesis, compose, fresh, singles
from gpu_worker.judge.diagnosis.rounding import Loss, are_rounded, err_both_ways, hold_numbers_of
from gpu_worker.judge.diagnosis.ruled_out import pairs_of
from gpu_worker.judge.diagnosis.search_time import UNHURRIED, SearchTime
from gpu_worker.judge.verdict.compare import Sign, is_modified, modified, signs_of
from gpu_worker.judge.verdict.transcript import Raised, Refused, same_bytes
from gpu_worker.messages.protocol import Mistake, Track

__all__ = ("JudgedCase", "as_message", "compose", "diagnose", "names_sign")

_MAX_MISTAKES = 8
_MIN_LOSSES = 3
_NEARLY_RIGHT = 16.0
"""Times the tolerance: a few hundred units. In float64 no wrong formula comes as near."""
_LOSS_SHARE = 1 / 3
"""Digits are lost in general, not by chance, if they are in this share of the cases."""


def diagnose(
    exercise: Exercise,
    runs: Sequence[Sequence[JudgedCase]],
    track: str = Track.NUMPY,
    time_left: SearchTime | None = None,
) -> list[Mistake]:
    """Return the known mistakes that explain all results of all runs; none is an answer too.

    `runs` holds the judged cases of each process that played some, in order. A mistake explains
    them if its variant gives the submission's results, wrong and right ones, within the
    tolerance; where the submission raised an exception, the variant must raise one of the same
    name. Signs, such as a changed input, are named beside what explains the numbers. If no
    mistake explains everything by itself, pairs are tried; two are named only if no other pair
    explains as much. Those of kernels are tried by themselves, and on the CuPy track only.

    Where `time_left` runs out nothing is named but signs: what was not tried may explain the
    numbers as well. Without it the search comes to its end.
    """
    failed = [item for run in runs for item in run if not item.verdict.passed]
    if not failed or any(isinstance(item.verdict.problem, Refused) for item in failed):
        return []
    search = _Search(exercise, runs, track, time_left or SearchTime(UNHURRIED))
    nearly_right = search.is_nearly_right()
    found = search.single()
    if not found and nearly_right:
        found = [DIGITS_LOST]
    if found is None:
        found = search.pair()
    if found is None:
        found = []
        # A sign is a fact, whatever the numbers are. It is named if every failed case shows it;
        # results that do not repeat are always named, since then nothing can explain the numbers.
        if Sign.NOT_REPEATABLE not in search.signs and not all(map(search.shows_sign, failed)):
            return []
    signs = search.signs_beside(found)
    known = [*found, *(mistake for mistake in search.bank if mistake.sign in signs)]
    return [as_message(mistake) for mistake in known][:_MAX_MISTAKES]


DIGITS_LOST: Final = KnownMistake(
    "digits-lost",
    "The formulas are right: they explain all results to a few hundred units in the last place. "
    "Digits are lost on the way, in a sum that is added up term by term in one place, in a "
    "difference of large numbers, or in a step that is rounded or approximated. Add up in parts, "
    "as np.sum does, subtract before squaring, and keep each step in the widest type.",
)
"""Reported where no mistake is known and no formula can be wrong."""


def names_sign(exercise: Exercise, mistakes: Sequence[Mistake], sign: str) -> bool:
    """True if one of the mistakes named is the one that shows by this sign."""
    shown = {known.id for known in exercise.module("mistakes").MISTAKES if known.sign == sign}
    return any(mistake.id in shown for mistake in mistakes)


def as_message(known: KnownMistake) -> Mistake:
    """Return the mistake as a report names it."""
    return Mistake(
        id=known.id,
        explanation=known.explanation,
        step=known.step,
        formula=known.formula,
        line=known.line,
        test=known.test,
    )


class _Search:
    """The hypotheses on one submission, and what speaks against each."""

    def __init__(
        self,
        exercise: Exercise,
        runs: Sequence[Sequence[JudgedCase]],
        track: str,
        time_left: SearchTime,
    ) -> None:
        self.exercise = exercise
        self.runs = runs
        self.time_left = time_left
        self.bank = exercise.known_mistakes()
        self.kernel_bank = exercise.kernel_mistakes() if track == Track.CUPY else []
        signs = {s for run in runs for item in run for s in signs_of(item.case, item.played)}
        self.changes = {sign for sign in signs if is_modified(sign)}
        # Where a changed input is used again, the other signs follow from the change.
        self.signs = self.changes or signs
        self.not_lost: set[str] = set()
        """Mistakes that lose digits as the submission does, which rounding does not explain."""

    def single(self) -> list[KnownMistake] | None:
        """Return every mistake that explains the numbers; none if no mistake explains them too.

        That is so where signs are all that is wrong, and where a number is off by so little that a
        row's rounding may be the reason: each mistake that shows elsewhere would explain it.
        """
        if self._explains(Hypothesis((), reference_class(self.exercise))):
            return []
        # In a few small cases a kernel's mistake may give the same results as one in the formulas,
        # which is the simpler explanation.
        return (
            self._explaining(singles(self.bank))
            or self._explaining(singles(self.kernel_bank, many=True))
            or None
        )

    def is_nearly_right(self) -> bool:
        """True if the formulas explain all results to a few hundred units, and rounding the rest.

        What errs one way, such as a factor or another eps, may be a formula that is wrong by a
        little.
        """
        losses: list[Loss] = []
        right = Hypothesis((), reference_class(self.exercise))
        # A case that failed usually rules this out at once.
        for item in sorted(self._all(), key=lambda item: item.verdict.passed):
            if self._says_nothing(item, right):
                continue
            shares = shares_of_tolerance(self.exercise, item)
            worst = max(shares, default=0.0)
            if worst > _NEARLY_RIGHT:
                return False
            if not item.verdict.passed and not item.verdict.sign:
                results = zip(shares, item.played.results, item.expected, strict=False)
                losses += [
                    Loss(item, place, got, wanted).of_large_errors()
                    for place, (share, got, wanted) in enumerate(results)
                    if share >= worst / 2
                ]
        return bool(losses) and err_both_ways(losses)

    def _explaining(self, hypotheses: Iterable[Hypothesis]) -> list[KnownMistake]:
        found: dict[str, KnownMistake] = {}
        for hypothesis in hypotheses:
            if self.time_left.is_over():
                return []
            (known,) = hypothesis.mistakes
            if known.id not in found and self._explains(hypothesis):
                found[known.id] = known
        return list(found.values())

    def pair(self) -> list[KnownMistake] | None:
        """Return the two mistakes that explain the numbers together, if no other two do."""
        found: dict[frozenset[str], Hypothesis] = {}
        right = Hypothesis((), reference_class(self.exercise))
        telling = (i for run in self.runs for i in run if not self._says_nothing(i, right))
        effects = Effects(self.exercise, telling)
        possible = pairs_of(self.exercise.slug).possible
        for hypothesis in possible(self._passed_in_public(), effects.may_explain):
            if self.time_left.is_over():
                return None
            if hypothesis.ids in found or hypothesis.ids & self.not_lost:
                continue
            if self._explains(hypothesis):
                found[hypothesis.ids] = hypothesis
        if len(found) != 1:
            return None
        (only,) = found.values()
        return list(only.mistakes)

    def _passed_in_public(self) -> set[int]:
        """Return the numbers of the public cases that the submission passed."""
        return {
            number
            for number, item in enumerate(self.runs[0])
            if item.case.public and item.verdict.passed
        }

    def shows_sign(self, item: JudgedCase) -> bool:
        """True if a failed case shows one of the signs, or could not because of one."""
        return item.verdict.sign in self.signs or self._refused_a_change(item)

    def signs_beside(self, found: Sequence[KnownMistake]) -> set[str]:
        """Return the signs to be named beside what was found."""
        if Sign.NOT_REPEATABLE not in self.signs:
            return self.signs
        keeps_state = any(known.variant and not self._repeats(known.variant) for known in found)
        # A variant whose own results do not repeat explains why the submission's do not.
        return self.signs - {Sign.NOT_REPEATABLE} if keeps_state else self.signs

    def _repeats(self, variant: type) -> bool:
        """True if the variant gives the same input the same results, each time."""
        items = [item for run in self.runs for item in run if item.case.repeats > 1]
        for item in items:
            cls = fresh(variant)
            results = [one.value for one in play_exactly(self.exercise, cls, item.case)]
            once = len(results) // item.case.repeats
            if any(not same_bytes(one, results[i % once]) for i, one in enumerate(results)):
                return False
        return True

    def _explains(self, hypothesis: Hypothesis) -> bool:
        if hypothesis.loses_digits and not self._may_lose_digits(hypothesis):
            return False
        if hypothesis.wide_results and not self._leaks_always:
            return False
        if self._is_refuted(hypothesis):
            return False
        if hypothesis.noise and not are_off_by_factors(
            self.exercise, hypothesis.variant, hypothesis.noise, self._all()
        ):
            return False
        if not hypothesis.loses_digits or self._loses_digits(hypothesis):
            return True
        if len(hypothesis.mistakes) == 1:
            self.not_lost |= hypothesis.ids
        return False

    def _is_refuted(self, hypothesis: Hypothesis) -> bool:
        """True if a case is not explained; first of all the one that refuted it the last time."""
        memory, key = pairs_of(self.exercise.slug).refuted_at, hypothesis.variants
        if key in memory and not hypothesis.keeps_state:
            run, place = memory[key]
            again = self.runs[run][place : place + 1] if run < len(self.runs) else []
            if not self._explains_run(hypothesis, again):
                return True
        for number, items in enumerate(self.runs):
            cls = fresh(hypothesis.variant)
            for place, item in enumerate(items):
                if not self._explains_case(hypothesis, cls, item):
                    memory[key] = number, place
                    return True
        return False

    @cached_property
    def _leaks_always(self) -> bool:
        """True if what is float64 for a narrower x is so each time, and not by another instance."""
        wide: dict[tuple[str, str], set[bool]] = {}
        for item in (item for run in self.runs for item in run):
            for got, wanted in zip(item.played.results, item.expected, strict=False):
                if wanted.dtype != np.float64:
                    ways = wide.setdefault((wanted.quantity, wanted.dtype.name), set())
                    ways.add(got.dtype == np.float64)
        return all(len(ways) == 1 for ways in wide.values())

    def _all(self) -> list[JudgedCase]:
        return [item for run in self.runs for item in run]

    def _explains_run(self, hypothesis: Hypothesis, run: Iterable[JudgedCase]) -> bool:
        cls = fresh(hypothesis.variant)
        return all(self._explains_case(hypothesis, cls, item) for item in run)

    def _explains_case(self, hypothesis: Hypothesis, cls: type, item: JudgedCase) -> bool:
        return self._says_nothing(item, hypothesis) or explains_case(
            self.exercise, hypothesis, cls, item
        )

    def _may_lose_digits(self, hypothesis: Hypothesis) -> bool:
        """True if enough cases failed for digits to be lost in general, and results repeat."""
        # Digits lost to arithmetic are lost in the same way each time.
        return Sign.NOT_REPEATABLE not in self.signs and self._are_many(
            hypothesis, lambda item: not item.verdict.passed
        )

    def _loses_digits(self, hypothesis: Hypothesis) -> bool:
        """True if many results are less exact than their dtype, and not a few wrong ones only."""
        exact = dataclasses.replace(
            hypothesis,
            mistakes=tuple(
                dataclasses.replace(known, exact_as="", loses_digits=False)
                for known in hypothesis.mistakes
            ),
        )
        return self._are_many(
            hypothesis, lambda item: not self._explains_run(exact, [item])
        ) and self._is_rounded(hypothesis, exact)

    def _is_rounded(self, hypothesis: Hypothesis, exact: Hypothesis) -> bool:
        """True if what is less exact than its dtype was rounded, and not computed wrongly.

        Either it holds numbers of the narrower dtype alone, or, unless the mistake is that it
        does, its errors are as rounding makes them.
        """
        limit = hypothesis.exact_as
        losses = list(self._losses(exact, limit)) if limit else []
        if not losses or not limit:
            return False
        on_grid = hold_numbers_of(limit, losses)
        if on_grid or hypothesis.on_grid:
            return on_grid
        return are_rounded(self.exercise, exact.variant, losses)

    def _losses(self, exact: Hypothesis, limit: np.dtype[Any]) -> Iterator[Loss]:
        """Yield the results of wider dtypes that are less exact than those."""
        for run in self.runs:
            cls = fresh(exact.variant)
            for item in run:
                if self._says_nothing(item, exact):
                    continue
                for place, got, variant in too_coarse(self.exercise, exact, cls, item):
                    if got.dtype.itemsize > limit.itemsize:
                        yield Loss(item, place, got, variant)

    def _are_many(self, hypothesis: Hypothesis, has: Callable[[JudgedCase], bool]) -> bool:
        """True if many cases of each dtype that is wider than the results are exact are so."""
        limit = hypothesis.exact_as
        items: dict[str, list[JudgedCase]] = {}
        for item in (item for run in self.runs for item in run):
            if limit and item.case.dtype.itemsize > limit.itemsize:
                items.setdefault(item.case.dtype.name, []).append(item)
        return bool(items) and all(
            sum(map(has, same)) >= max(_MIN_LOSSES, _LOSS_SHARE * len(same))
            for same in items.values()
        )

    def _says_nothing(self, item: JudgedCase, hypothesis: Hypothesis) -> bool:
        """True where a changed input is used again, so that the numbers follow from the change.

        Also for arithmetic in bfloat16: NumPy adds up in bfloat16, CuPy in float32. And where one
        instance is given several ranks or dtypes: what was kept too long then fits or not, and is
        rounded or not, as the submission happens to keep it.
        """
        if item.case.layout in MIXED:
            return True
        if hypothesis.native and item.case.dtype.name == dtypes.BFLOAT16:
            return True
        used_again = bool(self.changes) and item.case.group == "state"
        return used_again or self._refused_a_change(item)

    def _refused_a_change(self, item: JudgedCase) -> bool:
        """True where an input that is changed elsewhere is read-only, and NumPy said so."""
        problem = item.played.problem
        read_only = any(array.layout == "broadcast" for array in item.case.script.arrays)
        raised = isinstance(problem, Raised) and problem.name == "ValueError"
        return raised and read_only and modified("dout") in self.changes
