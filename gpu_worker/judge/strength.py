"""Can an exercise's cases tell wrong from right? Its stored submissions, and mutants, say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.stored import KINDS, Stored, stored
from gpu_worker.judge.builds import kernels_missing
from gpu_worker.judge.grading import Graded, grade_source
from gpu_worker.judge.mutants import Mutant, mutants
from gpu_worker.protocol import Outcome, Track
from gpu_worker.sandbox.client import Zygote

FURTHER_SEEDS: Final = 8
"""Further gradings that a mutant must pass before it counts as no change at all."""
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


def check_stored(
    exercise: Exercise,
    zygote: Zygote,
    *,
    seeds: int = 1,
    first_seed: int | None = None,
    quick: bool = False,
) -> Iterator[tuple[Stored, str]]:
    """Grade every stored submission; yield it with what is not as its header says, or nothing.

    Each is graded with `seeds` seeds: those from `first_seed` on, or any where there is none.
    `quick` leaves out those that are there to run into a limit of their own, and those whose
    kernels would have to be built, unless the exercise is about nothing else. The latter are left
    out too where nothing can build them.

    Raises:
        HeaderError: a stored submission does not say what to expect.
        SandboxError: the sandbox failed.
    """
    without_kernels = bool(kernels_missing()) or (quick and Track.NUMPY in exercise.tracks)
    for track, kind in ((track, kind) for track in exercise.tracks for kind in KINDS):
        for item in stored(exercise, kind, track):
            if (quick and item.limits) or (without_kernels and item.has_kernels):
                continue
            complaint = ""
            for number in range(seeds):
                graded = _grade(
                    exercise,
                    item.source,
                    zygote,
                    item.limits,
                    timed=item.kind == "wrong",
                    track=track,
                    seed=None if first_seed is None else first_seed + number,
                )
                named = [mistake.id for mistake in graded.report.mistakes]
                found = [finding.kind for finding in graded.report.findings]
                complaint = complaint or item.complaint(graded.outcome, named, found)
            yield item, complaint


def check_mutants(
    exercise: Exercise,
    zygote: Zygote,
    *,
    per_solution: int | None = None,
    first_seed: int | None = None,
) -> Iterator[MutantResult]:
    """Grade the mutants of every stored correct solution, of all tracks.

    Programs with kernels are left out. `per_solution` takes that many of each, spread over its
    text. A mutant that passes is graded again: if any further grading refuses it, the cases can
    miss it, and it has survived; if none does, nothing that they look at has changed. The gradings
    have the seeds from `first_seed` on, or any where there is none.

    Raises:
        SandboxError: the sandbox failed.
    """
    for track in exercise.tracks:
        for item in stored(exercise, "correct", track):
            if item.has_kernels:
                continue
            name = item.path.stem if track is Track.NUMPY else f"{track}/{item.path.stem}"
            for mutant in _spread(mutants(item.source), per_solution):
                fate = _fate(exercise, mutant, zygote, track, first_seed)
                yield MutantResult(name, mutant, fate)


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
        zygote=zygote,
        limits=limits,
        timed=timed,
        named=named,
        seed=seed,
    )


def _spread(found: Sequence[Mutant], count: int | None) -> Sequence[Mutant]:
    if count is None or len(found) <= count:
        return found
    return [found[place * len(found) // count] for place in range(count)]
