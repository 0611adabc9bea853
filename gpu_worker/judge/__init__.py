"""The judge: draws inputs, holds the expected values, compares, names mistakes, reports.

Its entry point is imported lazily: tolerances and families of inputs need only NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_worker.judge.grading import Graded, Options, grade_source

__all__ = ["Graded", "Options", "grade_source"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.grading"), name)
    globals()[name] = found
    return found
