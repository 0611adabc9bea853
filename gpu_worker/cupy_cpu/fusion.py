"""`cupy.fuse`: a function's operations as one kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import traffic
from .array import ndarray


def fuse(*args: Any, kernel_name: str | None = None) -> Any:
    """Decorate a function of arrays so that its operations count as one kernel.

    It reads each array that it is given once and writes what it returns once. A reduction inside
    is a kernel of its own on a device too, so a function with one still moves more than this says.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def fused(*operands: Any) -> Any:
            inputs = [value._values for value in operands if isinstance(value, ndarray)]
            with traffic.paused():
                result = function(*operands)
            parts = result if isinstance(result, tuple) else (result,)
            outputs = [part._values for part in parts if isinstance(part, ndarray)]
            traffic.count(inputs, outputs or [np.empty(0)])
            return result

        return fused

    return decorate(args[0]) if args and callable(args[0]) else decorate
