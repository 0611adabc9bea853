"""The engine's registry of exercises, as far as the site uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_worker.exercises import Exercise as ExerciseSpec


def find_spec(slug: str) -> ExerciseSpec | None:
    """Return the engine's exercise of that name, or None where the engine has none."""
    from gpu_worker import exercises

    return exercises.get(slug) if slug in exercises.slugs() else None
