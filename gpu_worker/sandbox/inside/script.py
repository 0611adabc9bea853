"""Plays a case on a class: the same code for submissions in the runner and for references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .wire import ArrayValue, Operation, Reason

Emit = Callable[[int, Operation, Any, Any], None]
"""Called with the operation's position, the operation, the instance and the result."""


class RefusalError(Exception):
    """The class does not follow the contract; nothing was raised by it."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text


def arrange(value: ArrayValue) -> NDArray[Any]:
    """Return the values in the memory layout that the case asks for, as a new array.

    `transposed` is a transposed view in two dimensions, and one with the first two axes swapped
    in more; `strided` leaves NaN between the elements; `reversed` has negative strides;
    `broadcast` has strides of zero and is read-only.
    """
    values = value.values
    if value.layout == "fortran":
        return np.array(values, order="F")
    if value.layout == "transposed" and values.ndim >= 2:
        axes = (1, 0, *range(2, values.ndim))
        return values.transpose(axes).copy().transpose(axes)
    if value.layout == "strided":
        spaced = np.full((*values.shape[:-1], 2 * values.shape[-1]), np.nan, values.dtype)
        spaced[..., ::2] = values
        return spaced[..., ::2]
    if value.layout == "reversed":
        flipped = np.flip(values).copy()
        return np.flip(flipped)
    if value.layout == "broadcast":
        return np.broadcast_to(values.copy(), value.shape)
    return values.copy()


def play(
    cls: Callable[..., Any],
    operations: Sequence[Operation],
    arrays: Sequence[NDArray[Any]],
    emit: Emit,
) -> None:
    """Run the operations in order; `emit` is called after each that has a result.

    Raises:
        RefusalError: a method or an attribute is missing.
        BaseException: whatever the class raises.
    """
    layers: dict[int, Any] = {}
    for position, operation in enumerate(operations):
        if operation.kind == "new":
            layers[operation.instance] = _make(cls, operation)
            continue
        if operation.kind == "fill":
            # New content at an old address: `instance` is the index of the array that is filled.
            arrays[operation.instance][...] = arrays[operation.array]
            continue
        layer = layers[operation.instance]
        if operation.kind == "set":
            setattr(layer, operation.name, arrays[operation.array])
        elif operation.kind == "get":
            emit(position, operation, layer, _attribute(layer, operation.name))
        else:
            method = _method(layer, operation.kind)
            emit(position, operation, layer, method(arrays[operation.array]))


def _make(cls: Callable[..., Any], operation: Operation) -> Any:
    arguments = [] if operation.eps is None else [operation.eps]
    if operation.dim == 0:
        # The class is made without the length of a row.
        return cls(*arguments)
    if operation.by_name:
        return cls(*arguments, dim=operation.dim)
    return cls(operation.dim, *arguments)


def _method(layer: Any, name: str) -> Callable[..., Any]:
    method = getattr(layer, name, None)
    if not callable(method):
        raise RefusalError(Reason.METHOD_MISSING, name)
    return method


def _attribute(layer: Any, name: str) -> Any:
    missing = object()
    value = getattr(layer, name, missing)
    if value is missing:
        raise RefusalError(Reason.ATTRIBUTE_MISSING, name)
    return value
