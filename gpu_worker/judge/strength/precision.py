"""How well the bank of known mistakes names the actual mistakes: precision and recall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.diagnosis.search import compose, diagnose
from gpu_worker.judge.strength.rehearsal import rehearse


@dataclass(slots=True)
class Naming:
    """Counts over tries. Precision: of the names given, how many were made; recall: of those
    made, how many were named.
    """

    tries: int = 0
    all_named: int = 0
    some_named: int = 0
    none_named: int = 0
    wrongly_named: int = 0
    passed: int = 0
    names: int = 0
    right_names: int = 0
    made: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, made: frozenset[str], named: frozenset[str], *, passed: bool) -> None:
        """Count one try."""
        self.tries += 1
        self.passed += passed
        self.made += len(made)
        self.names += len(named)
        self.right_names += len(named & made)
        if named - made:
            self.wrongly_named += 1
            self.wrong.append(f"{' + '.join(sorted(made))}: {', '.join(sorted(named))}")
        elif named == made:
            self.all_named += 1
        elif named:
            self.some_named += 1
        else:
            self.none_named += 1

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, precision and recall."""
        return {
            "tries": self.tries,
            "all_named": self.all_named,
            "some_named": self.some_named,
            "none_named": self.none_named,
            "wrongly_named": self.wrongly_named,
            "passed_all_cases": self.passed,
            "precision": round(self.right_names / self.names, 4) if self.names else None,
            "recall": round(self.right_names / self.made, 4) if self.made else None,
            "wrong": self.wrong[:20],
        }


def bank_precision(
    exercise: Exercise, seeds: Iterable[int], *, pairs: bool, sample: int | None = None
) -> Naming:
    """Play each mistake of the bank, or each pair that replaces different steps, as a submission.

    `sample` takes so many of them for each seed, drawn by it, in place of all. A name that says
    several mistakes at once (`covers`) counts as those.
    """
    bank = list(exercise.module("mistakes").MISTAKES)
    covers = {known.id: known.covers for known in bank}
    naming = Naming()
    for seed in seeds:
        made_here = list(_made(exercise, bank, pairs=pairs))
        if sample is not None and sample < len(made_here):
            drawn = np.random.default_rng(seed).choice(len(made_here), sample, replace=False)
            made_here = [made_here[place] for place in drawn]
        for mistakes, variant in made_here:
            wide = any(known.wide_results for known in mistakes)
            runs = rehearse(exercise, variant, seed, wide_results=wide)
            made = frozenset(known.id for known in mistakes)
            named: set[str] = set()
            for mistake in diagnose(exercise, runs):
                parts = set(covers[mistake.id])
                named |= parts if parts and parts <= made else {mistake.id}
            passed = all(item.verdict.passed for run in runs for item in run)
            naming.add(made, frozenset(named), passed=passed)
    return naming


def _made(
    exercise: Exercise, bank: Sequence[KnownMistake], *, pairs: bool
) -> Iterator[tuple[tuple[KnownMistake, ...], type]]:
    variants = [known for known in bank if known.variant]
    if not pairs:
        for known in variants:
            assert known.submission is not None  # noqa: S101  filtered above
            yield (known,), known.submission
        return
    for pair in combinations(variants, 2):
        if pair[0].id == pair[1].id or any(known.native for known in pair):
            continue
        variant = compose(exercise, pair, submitted=True)
        if variant:
            yield pair, variant
