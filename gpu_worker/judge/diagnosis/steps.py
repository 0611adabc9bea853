"""The steps of a reference: its methods between forward and backward, which variants replace."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from gpu_worker.judge.cases.reference import Array

_INTERFACE: Final = ("__init__", "forward", "backward")


def steps_of(reference: type) -> list[str]:
    """Return the names of the steps, in the order in which they are written."""
    return [
        name
        for name, value in vars(reference).items()
        if inspect.isfunction(value) and name not in _INTERFACE
    ]


def with_changed_step(variant: type, name: str, change: Callable[[Array], Array]) -> type:
    """Return the variant with a change to the arrays (any shape) that one step returns."""
    original: Callable[..., Any] = getattr(variant, name)

    def step(self: Any, *arguments: Any) -> Any:
        value = original(self, *arguments)
        is_array = isinstance(value, np.ndarray | np.floating)
        return change(np.asarray(value)) if is_array else value

    return type(variant.__name__, (variant,), {name: step})
