"""Notes which argument of a kernel is refused, before CuPy's own exception, which names none.

A warning, not an error: nothing was launched, and a program may catch the exception and go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from . import findings
from .array import ndarray, unwrap
from .executor import Diagnostic, Kind, Severity, argument_words

if TYPE_CHECKING:
    from .parameters import Parameter

NO_BUILD: Final = 0xFFFF


def of_another_type(
    kernel: str, number: int, name: str, passed: str, taken: str, build: int = NO_BUILD
) -> None:
    """Note that argument `number`, from 1, is of a type that the kernel does not take."""
    message = argument_words.about_argument(number, name, passed, taken) + "."
    detail = argument_words.detail(number, name, passed, taken)
    findings.add(
        Diagnostic(Kind.ARRAY_TYPE, Severity.WARNING, kernel, None, message, detail), build
    )


def of_another_number(kernel: str, given: int, parameters: Sequence[Parameter]) -> None:
    """Note that a call gives more or fewer arguments than there are parameters."""
    listed = ", ".join(f"{'raw ' * p.raw}{p.type} {p.name}" for p in parameters)
    message = argument_words.about_count(given, len(parameters), listed) + "."
    detail = {"given": given, "count": len(parameters), "listed": listed}
    findings.add(
        Diagnostic(Kind.ARGUMENT_COUNT, Severity.WARNING, kernel, None, message, detail), NO_BUILD
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
