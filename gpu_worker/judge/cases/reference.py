"""Runs cases on trusted classes, within the judge: the reference and variants of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.cases.case import Case, quantity_of
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
    results = play_exactly(exercise, reference_class(exercise), case, case.first_round())
    for result in results:
        rows = _compared_rows(case, result)
        if result.scale is None or not (
            np.isfinite(result.value[rows]).all() and np.isfinite(result.scale[rows]).all()
        ):
            raise JudgeError(
                f"The reference of {exercise.slug} has no finite {result.quantity} for the "
                f"family {case.family}."
            )
    # The reference keeps no state that would change later rounds.
    return results * case.repeats


def play_exactly(
    exercise: Exercise,
    cls: Callable[..., Any],
    case: Case,
    operations: Sequence[Operation] | None = None,
    *,
    native: bool = False,
) -> list[Expected]:
    """Play a case in float64, or with `native` in the case's dtype and layout.

    `operations` are those of the case that are played; all of them where none are given.

    Raises:
        Exception: whatever the class raises; the reference raises nothing.
    """
    operations = case.script.operations if operations is None else operations
    arrays = [arrange(a) if native else _wide(a) for a in case.script.arrays]
    sizes = None if native else _Sizes(exercise, operations, arrays)
    results: list[Expected] = []
    x_of: dict[int, ArrayValue] = {}

    def make(*arguments: float, **named: int) -> Any:
        layer = cls(*arguments, **named)
        if not native:
            for name in exercise.parameters:
                setattr(layer, name, getattr(layer, name).astype(np.float64))
        return layer

    def emit(position: int, operation: Operation, layer: Any, value: Any) -> None:
        if operation.kind == "forward":
            x_of[operation.instance] = case.script.arrays[operation.array]
        if sizes:
            sizes.follow(position, operation)
        if operation.send:
            quantity, x = quantity_of(operation), x_of[operation.instance]
            size = sizes.of(operation, layer, quantity, x) if sizes else None
            results.append(Expected(quantity, np.array(value), size, x.values.dtype, x.shape))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        play(make, operations, arrays, emit)
    return results


class _Sizes:
    """The sizes of the terms of each instance's results; one look serves y and its gradients."""

    def __init__(
        self, exercise: Exercise, operations: Sequence[Operation], arrays: Sequence[Array]
    ) -> None:
        self._term_sizes = exercise.module("reference_numpy").term_sizes
        self._operations = operations
        self._arrays = arrays
        self._known: dict[int, dict[str, Array]] = {}
        self._dout: dict[int, int] = {}
        self._foreseen: set[int] = set()

    def follow(self, position: int, operation: Operation) -> None:
        """Take note that an operation was played."""
        instance = operation.instance
        if operation.kind == "forward":
            self._dout[instance] = _coming_dout(self._operations[position + 1 :], instance)
            self._known.pop(instance, None)
            self._foreseen.add(instance)
        elif operation.kind == "backward":
            if instance not in self._foreseen or self._dout[instance] != operation.array:
                self._dout[instance] = operation.array
                self._known.pop(instance, None)
            self._foreseen.discard(instance)

    def of(self, operation: Operation, layer: Any, quantity: str, x: ArrayValue) -> Array | None:
        """Return the sizes (shape of the result) of the terms of what was played last."""
        instance = operation.instance
        if instance not in self._known:
            place = self._dout[instance]
            dout = self._arrays[place] if place >= 0 else None
            smallest = float(dtypes.limits_of(x.values.dtype).smallest_normal)
            self._known[instance] = self._term_sizes(layer, dout, smallest)
        return self._known[instance].get(quantity)


def _coming_dout(later: Sequence[Operation], instance: int) -> int:
    """Return which array the instance's next call is a backward of; -1 if it is none.

    Also where an array is filled before: what it holds then is not what it holds now.
    """
    for operation in later:
        if operation.kind == "fill":
            break
        if operation.instance == instance:
            return operation.array if operation.kind == "backward" else -1
    return -1


def _wide(value: ArrayValue) -> Array:
    return np.broadcast_to(value.values, value.shape).astype(np.float64, order="C")


def _compared_rows(case: Case, result: Expected) -> Any:
    if case.bad_rows is None or result.value.ndim != case.bad_rows.ndim + 1:
        return ...
    return ~case.bad_rows
