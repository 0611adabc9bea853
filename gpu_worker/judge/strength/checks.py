"""Measures whether an exercise's cases tell wrong from right, by stored programs and mutants.

`check_stored` and `check_mutants` look at everything; `publishing_steps` are the steps of the check
before an exercise is published, which can be run one at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.stored import KINDS, Stored, stored
from gpu_worker.judge.diagnosis.search_time import UNHURRIED
from gpu_worker.judge.grading import Graded, Options, grade_source
from gpu_worker.judge.running.builds import kernels_missing
from gpu_worker.judge.strength.mutants import Mutant, mutants
from gpu_worker.messages.protocol import Outcome, Track
from gpu_worker.sandbox.client import Zygote

FURTHER_SEEDS: Final = 8
"""Further gradings that a mutant must pass before it counts as no change at all."""
MUTANTS_BEFORE_PUBLISHING: Final = 2
"""Of each correct solution; `manage.py check_exercises` takes more."""
PUBLISHING_SEED: Final = 1
"""The same cases each time, so that repeating the check changes nothing."""
_MUTANT_LIMITS: Final = {"wall_seconds": 3.0, "cpu_seconds": 3.0}


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True, slots=True)
class MutantResult:
    """One mutant of one stored solution. `survived` means: wrong, and accepted at least once.

    `submission` is the solution's name, with its track where that is not NumPy's.
    """

    submission: str
    mutant: Mutant
    fate: Fate


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the check before publishing: a stored submission, or a mutant of it."""

    item: Stored
    mutant: Mutant | None = None


def publishing_steps(exercise: Exercise) -> list[Step]:
    """Return the steps of the check before publishing, in one order on every machine.

    Stored submissions come first, without those that are there to run into a limit of their own,
    and without kernels, which take long to build, unless the exercise is about nothing else. Then
    come a few mutants of each correct solution.

    Raises:
        HeaderError: a stored submission does not say what to expect.
    """
    items = [item for item in _all_stored(exercise) if not item.limits]
    if Track.NUMPY in exercise.tracks:
        items = [item for item in items if not item.has_kernels]
    return [Step(item) for item in items] + [
        Step(item, mutant)
        for item in _all_stored(exercise)
        if item.kind == "correct" and not item.has_kernels
        for mutant in _spread(mutants(item.source), MUTANTS_BEFORE_PUBLISHING)
    ]


def look_at(exercise: Exercise, step: Step, zygote: Zygote) -> tuple[str, str]:
    """Take a step; return what is said against a stored submission, and how a mutant got through.

    Raises:
        SandboxError: the sandbox failed.
    """
    if step.mutant is None:
        return complaint_about(exercise, step.item, zygote), ""
    result = fate_of(exercise, step.item, step.mutant, zygote)
    if result.fate is not Fate.SURVIVED:
        return "", ""
    return (
        "",
        f"{result.submission} with line {result.mutant.line} changed ({result.mutant.change})",
    )


def complaint_about(exercise: Exercise, item: Stored, zygote: Zygote) -> str:
    """Grade a stored submission; return what is not as its header says, or nothing.

    Raises:
        SandboxError: the sandbox failed.
    """
    return _complaint(exercise, item, zygote, PUBLISHING_SEED)


def fate_of(exercise: Exercise, item: Stored, mutant: Mutant, zygote: Zygote) -> MutantResult:
    """Grade a mutant of a stored submission, on the cases of `complaint_about`.

    Raises:
        SandboxError: the sandbox failed.
    """
    fate = _fate(exercise, mutant, zygote, item.track, PUBLISHING_SEED)
    return MutantResult(_name(item), mutant, fate)


def check_stored(
    exercise: Exercise, zygote: Zygote, *, seeds: int = 1
) -> Iterator[tuple[Stored, str]]:
    """Grade every stored submission; yield it with what is not as its header says, or nothing.

    Each is graded with `seeds` seeds. Those with kernels are left out where nothing builds them.

    Raises:
        HeaderError: a stored submission does not say what to expect.
        SandboxError: the sandbox failed.
    """
    without_kernels = bool(kernels_missing())
    for item in _all_stored(exercise):
        if without_kernels and item.has_kernels:
            continue
        complaint = ""
        for _ in range(seeds):
            complaint = complaint or _complaint(exercise, item, zygote)
        yield item, complaint


def check_mutants(
    exercise: Exercise, zygote: Zygote, *, per_solution: int | None = None
) -> Iterator[MutantResult]:
    """Grade the mutants of every stored correct solution, of all tracks.

    Programs with kernels are left out. `per_solution` takes that many of each, spread over its
    text. A mutant that passes is graded again: if any further grading refuses it, the cases can
    miss it, and it has survived; if none does, nothing that they look at has changed.

    Raises:
        SandboxError: the sandbox failed.
    """
    for item in _all_stored(exercise):
        if item.kind != "correct" or item.has_kernels:
            continue
        for mutant in _spread(mutants(item.source), per_solution):
            fate = _fate(exercise, mutant, zygote, item.track, None)
            yield MutantResult(_name(item), mutant, fate)


def _all_stored(exercise: Exercise) -> Iterator[Stored]:
    for track, kind in ((track, kind) for track in exercise.tracks for kind in KINDS):
        yield from stored(exercise, kind, track)


def _name(item: Stored) -> str:
    return item.path.stem if item.track is Track.NUMPY else f"{item.track}/{item.path.stem}"


def _complaint(exercise: Exercise, item: Stored, zygote: Zygote, seed: int | None = None) -> str:
    graded = _grade(
        exercise,
        item.source,
        zygote,
        item.limits,
        timed=item.kind == "wrong",
        track=item.track,
        seed=seed,
    )
    named = [mistake.id for mistake in graded.report.mistakes]
    found = [finding.kind for finding in graded.report.findings]
    return item.complaint(graded.outcome, named, found)


def _fate(
    exercise: Exercise, mutant: Mutant, zygote: Zygote, track: Track, first_seed: int | None
) -> Fate:
    for number in range(1 + FURTHER_SEEDS):
        seed = None if first_seed is None else first_seed + number
        graded = _grade(
            exercise, mutant.source, zygote, _MUTANT_LIMITS, track=track, named=False, seed=seed
        )
        if graded.outcome is not Outcome.ACCEPTED:
            return Fate.SURVIVED if number else Fate.KILLED
    return Fate.EQUIVALENT


def _grade(
    exercise: Exercise,
    source: str,
    zygote: Zygote,
    limits: dict[str, float],
    *,
    timed: bool = False,
    track: Track = Track.NUMPY,
    named: bool = True,
    seed: int | None = None,
) -> Graded:
    return grade_source(
        exercise.slug,
        track,
        source,
        Options(
            limits=limits,
            timed=timed,
            named=named,
            # What can be named must not depend on the speed of this machine.
            search_seconds=UNHURRIED,
            seed=seed,
        ),
        zygote=zygote,
    )


def _spread(found: Sequence[Mutant], count: int | None) -> Sequence[Mutant]:
    if count is None or len(found) <= count:
        return found
    return [found[place * len(found) // count] for place in range(count)]
