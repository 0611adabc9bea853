"""Converts the arguments of functions for NumPy: the only place where host data are accepted.

Arrays must be on the device. Short host values, such as shapes and axes, are parameters and pass as
they are; longer lists of numbers are data and are moved to the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from . import memory, traffic
from .array import backing, ndarray, wrap

PARAMETERS: Final = 32
"""So many numbers in lists go to a kernel as its parameters do; of more, all are moved."""
_PLAIN: Final = (bool, int, float, complex, str, np.number, np.bool_, np.dtype, slice)


@dataclass(slots=True)
class Operands:
    """Arguments for NumPy, and the arrays of the device among them, also in lists."""

    values: list[Any]
    named: dict[str, Any]
    arrays: list[Any]


def operands(args: Sequence[Any], named: Mapping[str, Any]) -> Operands:
    """Return operands that NumPy may compute with, and count host data that move to the device.

    Raises:
        TypeError: an array of the host's, or anything else that is no number, list or array.
    """
    arrays: list[Any] = []
    numbers = 0

    def taken(value: Any) -> Any:
        nonlocal numbers
        if isinstance(value, ndarray):
            arrays.append(backing(value))
            return arrays[-1]
        if isinstance(value, tuple):
            return tuple([taken(item) for item in value])
        if isinstance(value, (list, range)):
            return [taken(item) for item in value]
        if isinstance(value, type):
            return np.dtype(value)
        if value is None or value is ... or isinstance(value, _PLAIN) or _is_bfloat16(value):
            numbers += 1
            return value
        raise TypeError(f"Unsupported type {type(value)}")

    values = [taken(value) for value in args]
    given = Operands(values, {name: taken(value) for name, value in named.items()}, arrays)
    if numbers > PARAMETERS:
        traffic.count_transfer(numbers * np.dtype(np.float64).itemsize)
    return given


def _is_bfloat16(value: Any) -> bool:
    """True for a number of a type that NumPy knows no kind for."""
    return isinstance(value, np.generic) and not isinstance(value, np.flexible)


def result(inputs: Sequence[Any], computed: Any, out: Any = None, *, fusible: bool = False) -> Any:
    """Return what NumPy computed on the device, in `out` if there is one, and count the kernel.

    It may be part of a function of `cupy.fuse` if it is `fusible`.

    Raises:
        TypeError: `out` is no array of the device.
    """
    if isinstance(computed, (tuple, list)):
        parts = [np.asarray(part) for part in computed]
        traffic.count(inputs, parts)
        return (tuple if isinstance(computed, tuple) else list)(map(wrap, parts))
    made = np.asarray(computed)
    traffic.count(inputs, [made], fusible=fusible)
    if out is None:
        return wrap(made)
    if not isinstance(out, ndarray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    backing(out)[...] = made
    memory.mark_written(backing(out))
    traffic.placed(made, backing(out))
    return out
