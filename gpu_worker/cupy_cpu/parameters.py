"""The parameters of ElementwiseKernel and ReductionKernel: their text and their types."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import wrong_arguments
from .array import ndarray
from .dtypes import C_NAMES


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `type` is a single letter, to be found out, or the name of a dtype."""

    name: str
    type: str
    raw: bool

    @property
    def is_generic(self) -> bool:
        return len(self.type) == 1


@functools.cache
def parse(text: str) -> tuple[Parameter, ...]:
    """Return the parameters of a list such as "T x, raw T w, float32 eps".

    Raises:
        ValueError, TypeError: it cannot be understood.
    """
    found = []
    for item in text.split(",") if text.strip() else ():
        *keywords, kind, name = item.split() if len(item.split()) > 1 else ("", "", "")
        if not name:
            raise ValueError(f"Syntax error: {item.strip()!r} is not 'type name'.")
        if keywords not in ([], ["raw"]):
            raise ValueError(f'Unknown keyword "{keywords[0]}"')
        if len(kind) > 1 and np.dtype(kind) not in C_NAMES:
            raise TypeError(f"The CPU stand-in has no kernels of dtype {kind}.")
        found.append(Parameter(name, kind, bool(keywords)))
    return tuple(found)


def decide_types(
    parameters: Sequence[Parameter], arguments: Sequence[Any], kernel: str
) -> dict[str, np.dtype[Any]]:
    """Return the dtype of each parameter by name, from the arrays given; None is not given yet.

    Raises:
        TypeError: an array has another dtype than its parameter, or one is left open.
    """
    letters: dict[str, np.dtype[Any]] = {}
    for number, (parameter, value) in enumerate(zip(parameters, arguments, strict=True), start=1):
        if not isinstance(value, ndarray):
            continue
        wanted = letters.setdefault(parameter.type, value.dtype) if parameter.is_generic else (
            np.dtype(parameter.type))  # fmt: skip
        if value.dtype != wanted:
            wrong_arguments.mismatched(kernel, number, parameter.name, value, wanted)
            raise TypeError(
                f"Type is mismatched. {parameter.name} has dtype {value.dtype}, but {kernel} wants "
                f"{wanted} for {parameter.type}."
            )
    # A letter that no array decides is decided by the first scalar.
    for parameter, value in zip(parameters, arguments, strict=True):
        if parameter.is_generic and parameter.type not in letters and value is not None:
            letters[parameter.type] = np.result_type(value)
    return {p.name: _decided(p, letters, kernel) for p in parameters}


def _decided(parameter: Parameter, letters: dict[str, Any], kernel: str) -> np.dtype[Any]:
    if not parameter.is_generic:
        return np.dtype(parameter.type)
    if parameter.type not in letters:
        raise TypeError(f"The type {parameter.type} of {parameter.name} in {kernel} is not known.")
    dtype: np.dtype[Any] = letters[parameter.type]
    if dtype not in C_NAMES:
        raise TypeError(f"The CPU stand-in has no kernels of dtype {dtype}.")
    return dtype
