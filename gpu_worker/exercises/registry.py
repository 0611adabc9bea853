"""The exercises that can be graded: one folder each, registered by existing.

A folder holds `__init__.py` with a `SPECIFICATION`, `cases.py` with `GROUPS`, `PUBLIC_CASES` and
`PLANS`, `mistakes.py`, and for each track `reference_<track>.py` and `starter_<track>.py`.
Only tracks that have both are offered; `reference_numpy.py` is there always, for the judge compares
with it. `submissions/correct` and `submissions/wrong` hold programs
that show whether the cases work; `chunked_numpy.py`, if there is one, is the yardstick of speed.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from gpu_worker.exercises import row_plans
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.exercises.spec import (
    KERNEL_LIMITS,
    Budget,
    CasePlan,
    Direction,
    Group,
    PublicCase,
    Specification,
)
from gpu_worker.messages.protocol import Track

_PACKAGE = "gpu_worker.exercises"


class UnknownExerciseError(LookupError):
    """No exercise has this slug; the text lists those there are."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise: its contract, limits, weighted groups and public cases.

    `limits` maps names that end in their unit to numbers. `plans` says how hidden cases are
    drawn; it holds no input values.
    """

    slug: str
    title: str
    class_name: str
    parameters: tuple[str, ...]
    gradients: tuple[str, ...]
    constructor: tuple[str, ...]
    default_eps: float
    longest_row: int | None
    timed_shape: tuple[int, int] | None
    counted_shape: tuple[int, int] | None
    directions: tuple[Direction, ...]
    budgets: tuple[Budget, ...]
    tracks: tuple[Track, ...]
    limits: Mapping[str, float]
    groups: tuple[Group, ...]
    public_cases: tuple[PublicCase, ...]
    plans: tuple[CasePlan, ...]
    folder: Path

    @property
    def group_titles(self) -> dict[str, str]:
        """The groups' titles by their ids."""
        return {group.id: group.title for group in self.groups}

    @property
    def results(self) -> tuple[str, ...]:
        """The names of all results that are compared: "y", "dx", the parameters' gradients."""
        return ("y", "dx", *self.gradients) if "backward" in self.directions else ("y",)

    @property
    def case_groups(self) -> tuple[Group, ...]:
        """The groups that hold cases: all but those of budgets."""
        spent = {budget.group for budget in self.budgets}
        return tuple(group for group in self.groups if group.id not in spent)

    def starter(self, track: str) -> str:
        """Return the file that a learner begins from.

        Raises:
            LookupError: the exercise has no such track.
        """
        if track not in self.tracks:
            raise LookupError(
                f"The exercise {self.slug} has no track {track}; it has {', '.join(self.tracks)}."
            )
        return (self.folder / f"starter_{Track(track)}.py").read_text(encoding="utf-8")

    def plans_for(self, track: str) -> tuple[CasePlan, ...]:
        """Return how a track's hidden cases are drawn."""
        return row_plans.for_kernels(self.plans) if track == Track.CUPY else self.plans

    def has_kernels_for(self, dtype: str) -> bool:
        """Whether arrays of a dtype are within the contract on the CuPy track."""
        return any(plan.dtype == dtype for plan in self.plans_for(Track.CUPY))

    def limits_for(self, track: str) -> Mapping[str, float]:
        """Return a track's limits, by names that end in their unit."""
        return {**self.limits, **KERNEL_LIMITS} if track == Track.CUPY else self.limits

    def known_mistakes(self) -> list[KnownMistake]:
        """Return what is often got wrong."""
        return list(self.module("mistakes").MISTAKES)

    def kernel_mistakes(self) -> list[KnownMistake]:
        """Return what kernels get wrong beside, on the CuPy track."""
        return list(getattr(self.module("mistakes"), "KERNEL_MISTAKES", ()))

    def module(self, name: str) -> ModuleType:
        """Import a module of the exercise's folder, for example `reference_numpy`."""
        return importlib.import_module(f"{_PACKAGE}.{self.slug}.{name}")


@cache
def slugs() -> tuple[str, ...]:
    """Return the slugs of all exercises, sorted."""
    found = pkgutil.iter_modules(sys.modules[_PACKAGE].__path__)
    return tuple(sorted(item.name for item in found if item.ispkg))


@cache
def on_track(track: Track) -> tuple[str, ...]:
    """Return the slugs of the exercises that offer a track, sorted."""
    return tuple(slug for slug in slugs() if track in get(slug).tracks)


@cache
def get(slug: str) -> Exercise:
    """Return the exercise with this slug.

    Raises:
        UnknownExerciseError: there is none.
    """
    if slug not in slugs():
        raise UnknownExerciseError(
            f"There is no exercise {slug!r}; there are {', '.join(slugs()) or 'none'}."
        )
    package = importlib.import_module(f"{_PACKAGE}.{slug}")
    specification: Specification = package.SPECIFICATION
    longest = specification.longest_row
    folder = Path(package.__path__[0])
    cases = importlib.import_module(f"{_PACKAGE}.{slug}.cases")
    return Exercise(
        slug=slug,
        title=specification.title,
        class_name=specification.class_name,
        parameters=specification.parameters,
        gradients=specification.gradients,
        constructor=specification.constructor,
        default_eps=specification.default_eps,
        longest_row=longest,
        timed_shape=specification.timed_shape,
        counted_shape=specification.counted_shape,
        directions=specification.directions,
        budgets=specification.budgets,
        tracks=_tracks(folder),
        limits=MappingProxyType(dict(specification.limits)),
        groups=tuple(cases.GROUPS),
        public_cases=tuple(cases.PUBLIC_CASES),
        # Behind the others, so that what a seed draws for those stays as it is.
        plans=(*cases.PLANS, *(row_plans.at_the_longest_row(longest) if longest else ())),
        folder=folder,
    )


def _tracks(folder: Path) -> tuple[Track, ...]:
    return tuple(
        track
        for track in Track
        if all((folder / f"{part}_{track}.py").is_file() for part in ("reference", "starter"))
    )
