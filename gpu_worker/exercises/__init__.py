"""Exercises, one folder each. `get(slug)` and `slugs()` are all that the site needs.

They are loaded when first asked for, so that kernels and references can be imported where the
queue's packages are not installed, for example by the measurements on a device.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_worker.exercises.registry import Exercise, UnknownExerciseError, get, on_track, slugs
    from gpu_worker.exercises.spec import Group, PublicCase

__all__ = ["Exercise", "Group", "PublicCase", "UnknownExerciseError", "get", "on_track", "slugs"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.registry"), name)
    globals()[name] = found
    return found
