"""Exercises, one folder each. `get(slug)` and `slugs()` are all that the site needs."""

from __future__ import annotations

from gpu_worker.exercises.registry import Exercise, UnknownExerciseError, get, slugs
from gpu_worker.exercises.spec import Group, PublicCase

__all__ = ["Exercise", "Group", "PublicCase", "UnknownExerciseError", "get", "slugs"]
