"""The arguments of a kernel: their types, and which one is refused.

The refused argument is noted before CuPy's own exception, which does not name it. It is a warning,
not an error: nothing was launched, and a program may catch the exception and go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from . import notes
from .array import ndarray, unwrap
from .dtypes import C_NAMES
from .executor import Defect, Diagnostic, Severity, argument_words
from .parameters import Parameter

NO_BUILD: Final = 0xFFFF


def of_another_type(
    kernel: str, number: int, name: str, passed: str, taken: str, build: int = NO_BUILD
) -> None:
    """Note that argument `number`, from 1, is of a type that the kernel does not take."""
    message = argument_words.about_argument(number, name, passed, taken) + "."
    detail = argument_words.detail(number, name, passed, taken)
    notes.add(
        Diagnostic(Defect.ARRAY_TYPE, Severity.WARNING, kernel, None, message, detail),
        build,
    )


def of_another_number(kernel: str, given: int, parameters: Sequence[Parameter]) -> None:
    """Note that a call gives more or fewer arguments than there are parameters."""
    listed = ", ".join(f"{'raw ' * p.raw}{p.type} {p.name}" for p in parameters)
    message = argument_words.about_count(given, len(parameters), listed) + "."
    detail = {"given": given, "count": len(parameters), "listed": listed}
    notes.add(
        Diagnostic(Defect.ARGUMENT_COUNT, Severity.WARNING, kernel, None, message, detail),
        NO_BUILD,
    )


def check_on_device(kernel: str, values: Sequence[Any], parameters: Sequence[Parameter]) -> None:
    """Raise for what is neither an array of the device nor a number.

    Raises:
        TypeError: a value is, for example a NumPy array.
    """
    for number, (value, parameter) in enumerate(zip(values, parameters, strict=False), start=1):
        try:
            unwrap(value)
        except TypeError:
            taken = "an array" if parameter.is_generic else argument_words.array_of(parameter.type)
            passed = argument_words.refused(value)
            of_another_type(kernel, number, parameter.name, passed, taken)
            raise


def mismatched(kernel: str, number: int, name: str, value: ndarray, wanted: Any) -> None:
    """Note that an array has another dtype than its parameter."""
    passed, taken = argument_words.array_of(value.dtype), argument_words.array_of(wanted)
    of_another_type(kernel, number, name, passed, taken)


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
            mismatched(kernel, number, parameter.name, value, wanted)
            raise TypeError(
                f"Type is mismatched. {parameter.name} has dtype {value.dtype}, but {kernel} wants "
                f"{wanted} for {parameter.type}."
            )
    # A type letter that no array determines is determined by the first scalar.
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
