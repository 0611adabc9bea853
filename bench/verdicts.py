"""How right the verdicts are: false alarms, misses, precision and recall of named mistakes.

Honest solutions are played in this process, because the cases and expected values of a seed then
serve them all; wrong ones, some of them hostile, go through the sandbox like any submission.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench import rounds
from gpu_worker.exercises import Exercise, get, on_track
from gpu_worker.exercises.stored import Stored, stored
from gpu_worker.judge import Options, grade_source
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.reference import expected_results
from gpu_worker.judge.strength.precision import bank_precision
from gpu_worker.judge.strength.rehearsal import play_case
from gpu_worker.judge.verdict.compare import judge_case, measure
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.client import Zygote

HONEST_SEEDS = 200
SEEDS_AT_A_TIME = 10
WRONG_SEEDS = 20
BANK_SEEDS = (101, 102, 103)
PAIR_SEEDS = (201, 202)
PAIRS_EACH = 40
"""Pairs drawn for each seed, of the more than a thousand that can be made."""


def measure_honest(folder: Path, seeds: int = HONEST_SEEDS) -> dict[str, Any]:
    """Judge every stored correct solution on the cases of many seeds.

    `LEARNML_BENCH_MINUTES` is the time for each exercise, after which no seed is begun.
    """
    return {slug: _honest(get(slug), seeds) for slug in on_track(Track.NUMPY)}


def _honest(exercise: Exercise, seeds: int) -> dict[str, Any]:
    found = _Found()
    done = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for first in rounds.in_time(range(1, seeds + 1, SEEDS_AT_A_TIME)):
            some = range(first, min(first + SEEDS_AT_A_TIME, seeds + 1))
            for of_a_seed in pool.map(_of_a_seed, [exercise.slug] * len(some), some):
                found.add(of_a_seed)
            done = some[-1]
    return {
        "solutions": len(stored(exercise, "correct")),
        "seeds": done,
        **found.as_dict(),
    }


@dataclass
class _Found:
    """What honest solutions showed: how many cases, which alarms, and the largest errors."""

    judged: int = 0
    alarms: list[str] = field(default_factory=list)
    largest: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By dtype and result: the error and the limit where it was, both in units."""

    def measured(self, key: str, units: float, limit: float) -> None:
        """Keep an error that is larger than those so far."""
        self.largest[key] = max((units, limit), self.largest.get(key, (0.0, 0.0)))

    def add(self, other: _Found) -> None:
        self.judged += other.judged
        self.alarms += other.alarms
        for key, (units, limit) in other.largest.items():
            self.measured(key, units, limit)

    def as_dict(self) -> dict[str, Any]:
        return {
            "cases_judged": self.judged,
            "false_alarms": len(self.alarms),
            "first_false_alarms": self.alarms[:20],
            "largest_error_in_units": {
                key: {"units": round(units, 3), "limit_there": round(limit, 2)}
                for key, (units, limit) in sorted(self.largest.items())
            },
        }


def _of_a_seed(slug: str, seed: int) -> _Found:
    exercise = get(slug)
    solutions = {item.path.stem: _loaded(exercise, item) for item in stored(exercise, "correct")}
    found = _Found()
    for case in casegen.public_cases(exercise) + casegen.hidden_cases(exercise, seed):
        expected = expected_results(exercise, case)
        for name, cls in solutions.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                played = play_case(cls, case)
            verdict = judge_case(case, played, expected, exercise.gradients)
            found.judged += 1
            if not verdict.passed:
                found.alarms.append(f"{name}, seed {seed}: {case.family}: {verdict.message}")
            for got, wanted in zip(played.results, expected, strict=False):
                deviation = measure(case, got, wanted, exercise.gradients)
                if deviation and math.isfinite(deviation.units):
                    key = f"{deviation.dtype.name} {deviation.quantity}"
                    found.measured(key, deviation.units, deviation.limit)
    return found


def _loaded(exercise: Exercise, item: Stored) -> Any:
    module = ModuleType("submission")
    source = item.source.removeprefix("\ufeff")
    module.__dict__["print"] = lambda *args, **kwargs: None
    sys.modules["submission"] = module
    exec(compile(source, item.path.name, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return module.__dict__[exercise.class_name]


def measure_wrong(folder: Path, seeds: int = WRONG_SEEDS) -> dict[str, Any]:
    """Grade every stored wrong submission with several fresh seeds, in the sandbox.

    Round by round, each with a seed of its own for every submission, and taken up again where it
    was broken off, as long as the engine's code is the same. `LEARNML_BENCH_MINUTES` ends it early:
    no round is begun that the last one's time would not fit into.
    """
    kept = rounds.Rounds("verdicts_wrong")
    work = [
        (slug, item.path.stem)
        for slug in on_track(Track.NUMPY)
        for item in stored(get(slug), "wrong")
    ]
    kept.run(work, seeds, _grade_once)
    return {slug: _summed_up(slug, kept) for slug in on_track(Track.NUMPY)}


def _grade_once(slug: str, stem: str, zygote: Zygote) -> dict[str, Any]:
    """Grade one stored wrong submission; say how it ended, and whether as its header says."""
    (item,) = [item for item in stored(get(slug), "wrong") if item.path.stem == stem]
    graded = grade_source(slug, "numpy", item.source, Options(limits=item.limits), zygote=zygote)
    ids = [mistake.id for mistake in graded.report.mistakes]
    return {
        "outcome": graded.outcome,
        "named": ids,
        "right": set(ids) == item.mistakes if item.mistakes else None,
        "complaint": item.complaint(graded.outcome, ids),
        "seed": graded.report.receipt.seed if graded.report.receipt else "",
    }


def _summed_up(slug: str, kept: rounds.Rounds) -> dict[str, Any]:
    results = kept.results(slug)
    named = Counter(
        "right" if result["right"] else "none or wrong"
        for result in results
        if result["right"] is not None
    )
    complaints = [f"{r['complaint']} Seed {r['seed']}." for r in results if r["complaint"]]
    outcomes = Counter(result["outcome"] for result in results)
    return {
        "submissions": len(stored(get(slug), "wrong")),
        "seeds_each": kept.complete,
        "gradings": len(results),
        "outcomes": dict(sorted(outcomes.items())),
        "accepted": outcomes["accepted"],
        "with_an_expected_mistake": dict(named),
        "not_as_their_header_says": len(complaints),
        "first_complaints": complaints[:20],
        "code_sha256": kept.code,
    }


def measure_mistakes(folder: Path) -> dict[str, Any]:
    """Play every known mistake, and pairs that can be made together, and see what is named."""
    parts = [(slug, kind) for slug in on_track(Track.NUMPY) for kind in ("pairs", "single")]
    with ProcessPoolExecutor(len(parts)) as pool:
        jobs = {part: pool.submit(_named, *part) for part in parts}
        return {
            slug: {kind: jobs[slug, kind].result() for kind in ("single", "pairs")}
            for slug in on_track(Track.NUMPY)
        }


def _named(slug: str, kind: str) -> dict[str, Any]:
    np.seterr(all="ignore")
    pairs = kind == "pairs"
    seeds = rounds.in_time(PAIR_SEEDS if pairs else BANK_SEEDS)
    sample = PAIRS_EACH if pairs else None
    return bank_precision(get(slug), seeds, pairs=pairs, sample=sample).as_dict()
