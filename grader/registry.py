"""The site's view of the engine's registry of exercises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_worker.exercises import Exercise as ExerciseSpec
    from gpu_worker.exercises import Group


def find_spec(slug: str) -> ExerciseSpec | None:
    """Return the engine's exercise of that name, or None where the engine has none."""
    from gpu_worker import exercises

    return exercises.get(slug) if slug in exercises.slugs() else None


@cache
def groups_of_steps(slug: str) -> Mapping[str, Group]:
    """Return, by step of the chapter's derivation, the group that tests it most.

    Derived from the exercise's known mistakes, each of which names its step and the group that
    catches it; ties go to the exercise's first group.
    """
    spec = find_spec(slug)
    if spec is None:
        return {}
    caught: dict[str, Counter[str]] = {}
    for mistake in spec.module("mistakes").MISTAKES:
        if mistake.step and mistake.test:
            caught.setdefault(mistake.step, Counter())[mistake.test] += 1
    return {
        step: max(spec.groups, key=lambda group: counts[group.id])
        for step, counts in caught.items()
    }
