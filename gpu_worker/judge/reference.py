"""Plays cases on trusted classes, in the judge: the reference, and variants of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge import dtypes
from gpu_worker.judge.case import Case, quantity_of
from gpu_worker.sandbox.inside.script import arrange, play
from gpu_worker.sandbox.inside.wire import ArrayValue, Operation

Array = NDArray[Any]


class JudgeError(RuntimeError):
    """The judge's own numbers are unusable; no submission is to blame."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One result in float64, with the size of the terms that make it.

    `value` has the result's shape. `scale` has the shape that a right result has; None where the
    size cannot be told. `dtype` and `x_shape` are those of the x that it belongs to: an instance
    may be given another x later, and a case have several instances.
    """

    quantity: str
    value: Array
    scale: Array | None
    dtype: np.dtype[Any]
    x_shape: tuple[int, ...]

    @property
    def rows(self) -> int:
        """How many rows x has."""
        return math.prod(self.x_shape[:-1])


def reference_class(exercise: Exercise) -> Any:
    """Return the exercise's NumPy reference."""
    return getattr(exercise.module("reference_numpy"), exercise.class_name)


def make_reference(exercise: Exercise, dim: int, eps: float | None) -> Any:
    """Return a new instance of the reference for rows of length `dim`."""
    arguments = [dim] if "dim" in exercise.constructor else []
    return reference_class(exercise)(*arguments, *([] if eps is None else [eps]))


def expected_results(exercise: Exercise, case: Case) -> list[Expected]:
    """Return what a right submission answers, in the order of `case.compared()`.

    Raises:
        JudgeError: a number that is compared is not finite.
    """
    results = play_exactly(exercise, reference_class(exercise), case)
    for result in results:
        rows = _compared_rows(case, result)
        if result.scale is None or not (
            np.isfinite(result.value[rows]).all() and np.isfinite(result.scale[rows]).all()
        ):
            raise JudgeError(
                f"The reference of {exercise.slug} has no finite {result.quantity} for the "
                f"family {case.family}."
            )
    return results


def play_exactly(
    exercise: Exercise, cls: Callable[..., Any], case: Case, *, native: bool = False
) -> list[Expected]:
    """Play a case in float64, or with `native` in the case's dtype and layout.

    Raises:
        Exception: whatever the class raises; the reference raises nothing.
    """
    term_sizes = exercise.module("reference_numpy").term_sizes
    arrays = [arrange(a) if native else _wide(a) for a in case.script.arrays]
    results: list[Expected] = []
    gradients: dict[int, Array] = {}
    sizes_of: dict[int, dict[str, Array]] = {}
    x_of: dict[int, ArrayValue] = {}

    def make(*arguments: float, **named: int) -> Any:
        layer = cls(*arguments, **named)
        if not native:
            for name in exercise.parameters:
                setattr(layer, name, getattr(layer, name).astype(np.float64))
        return layer

    def emit(position: int, operation: Operation, layer: Any, value: Any) -> None:
        number = operation.instance
        if operation.kind in ("forward", "backward"):
            sizes_of.pop(number, None)
        if operation.kind == "forward":
            x_of[number] = case.script.arrays[operation.array]
        if operation.kind == "backward":
            gradients[number] = arrays[operation.array]
        if operation.send:
            quantity, x = quantity_of(operation), x_of[number]
            if number not in sizes_of:
                dout = None if quantity == "y" else gradients.get(number)
                normal = float(dtypes.limits_of(x.values.dtype).smallest_normal)
                sizes_of[number] = {} if native else term_sizes(layer, dout, normal)
            size = sizes_of[number].get(quantity)
            results.append(Expected(quantity, np.array(value), size, x.values.dtype, x.shape))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        play(make, case.script.operations, arrays, emit)
    return results


def _wide(value: ArrayValue) -> Array:
    wide = value.values.astype(np.float64)
    return np.broadcast_to(wide, value.shape).copy()


def _compared_rows(case: Case, result: Expected) -> Any:
    if case.bad_rows is None or result.value.ndim != case.bad_rows.ndim + 1:
        return ...
    return ~case.bad_rows
