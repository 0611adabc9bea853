"""Checks the arguments of a launch against the parameters of its kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from . import argument_words
from .arguments import (
    BOOLEAN,
    BRAIN,
    FLOATING,
    OTHER,
    POINTER,
    SIGNED,
    UNSIGNED,
    Parameter,
    Pointer,
    dtype_type,
    passed_type,
    type_name,
)
from .defects import Defect, Severity
from .diagnostics import Diagnostic

_INTEGERS = (SIGNED, UNSIGNED)


def check_arguments(
    kernel: str, values: Sequence[object], parameters: Sequence[Parameter]
) -> list[Diagnostic]:
    """Return what is wrong with the arguments, most of it errors."""
    if len(values) != len(parameters):
        return [_wrong_count(kernel, len(values), parameters)]
    found = []
    for number, (value, parameter) in enumerate(zip(values, parameters, strict=True), start=1):
        item = _check(kernel, number, value, parameter)
        if item:
            found.append(item)
    return found


def _wrong_count(kernel: str, given: int, parameters: Sequence[Parameter]) -> Diagnostic:
    listed = argument_words.listed(parameters)
    told = argument_words.about_count(given, len(parameters), listed)
    message = (
        f"{told}. A device would read whatever lies behind them. Pass one value for each "
        "parameter, in the kernel's order."
    )
    detail = {"given": given, "count": len(parameters), "listed": listed}
    return Diagnostic(Defect.ARGUMENT_COUNT, Severity.ERROR, kernel, None, message, detail)


def _check(kernel: str, number: int, value: object, parameter: Parameter) -> Diagnostic | None:
    kind = parameter.kind & 0xFF
    if isinstance(value, bytes):
        return _check_structure(kernel, number, value, parameter)
    if (kind == POINTER) != isinstance(value, Pointer):
        if kind == POINTER and isinstance(value, int | np.integer):
            return _number_for_pointer(kernel, number, int(value), parameter)
        return _array_or_number(kernel, number, value, parameter)
    if isinstance(value, Pointer):
        return _check_array(kernel, number, value, parameter)
    return _check_scalar(kernel, number, value, parameter)


def _wrong(
    kernel: str,
    number: int,
    parameter: Parameter,
    passed: str,
    *,
    kind: Defect,
    taken: str = "",
    rest: str,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    """Return the diagnostic of one argument; `rest` is what its message says after the types."""
    taken = taken or parameter.type_name
    message = argument_words.about_argument(number, parameter.name, passed, taken) + rest
    detail = argument_words.detail(number, parameter.name, passed, taken)
    return Diagnostic(kind, severity, kernel, None, message, detail)


def _number_for_pointer(
    kernel: str, number: int, value: int, parameter: Parameter
) -> Diagnostic | None:
    # x.data.ptr is a number too, and passing it as 64 bits is a valid way to pass an address.
    if value > 0xFFFF:
        return None
    taken, rest = f"a pointer, {parameter.type_name}", ". Pass the array itself."
    return _wrong(
        kernel,
        number,
        parameter,
        "a number",
        kind=Defect.ARRAY_TYPE,
        taken=taken,
        rest=rest,
    )


def _check_structure(
    kernel: str, number: int, value: bytes, parameter: Parameter
) -> Diagnostic | None:
    if len(value) == parameter.size:
        return None
    passed = f"a structure of {len(value)} bytes"
    rest = f" of {parameter.size}."
    return _wrong(kernel, number, parameter, passed, kind=Defect.SCALAR_TYPE, rest=rest)


def _array_or_number(
    kernel: str, number: int, value: object, parameter: Parameter
) -> Diagnostic | None:
    if parameter.kind & 0xFF == OTHER:
        return None
    given = _passed_array(value) if isinstance(value, Pointer) else "a number"
    taken = "a pointer" if parameter.kind & 0xFF == POINTER else "a number"
    taken, rest = f"{taken}, {parameter.type_name}", ". Are the arguments in the kernel's order?"
    return _wrong(kernel, number, parameter, given, kind=Defect.ARRAY_TYPE, taken=taken, rest=rest)


def _passed_array(value: Pointer) -> str:
    return "an address" if value.dtype is None else argument_words.array_of(value.dtype)


def _check_array(
    kernel: str, number: int, value: Pointer, parameter: Parameter
) -> Diagnostic | None:
    if value.dtype is None or parameter.pointee_size in (0, 1):
        return None
    kind, size = dtype_type(value.dtype)
    wanted = parameter.pointee_kind
    if wanted & 0xFF == OTHER or wanted & 0xFF == POINTER or kind == OTHER:
        # A vector or a structure of the kernel's own: only the kernel knows what it holds.
        return None
    integers = kind in _INTEGERS and wanted & 0xFF in _INTEGERS
    if size == parameter.pointee_size and (kind == wanted or integers):
        return None
    name = np.dtype(value.dtype).name
    rest = (
        f": it would read its bytes as other numbers. Compile the kernel for {name}, or convert "
        "the array with .astype()."
    )
    passed = argument_words.array_of(value.dtype)
    return _wrong(kernel, number, parameter, passed, kind=Defect.ARRAY_TYPE, rest=rest)


def _check_scalar(
    kernel: str, number: int, value: object, parameter: Parameter
) -> Diagnostic | None:
    kind, size = passed_type(value)
    taken = parameter.kind & 0xFF
    if taken == OTHER:
        return None
    if kind == parameter.kind and size == parameter.size:
        return None
    whole = kind & 0xFF in (*_INTEGERS, BOOLEAN) and taken in (*_INTEGERS, BOOLEAN)
    if whole and size == parameter.size:
        return None
    python = not isinstance(value, np.generic)
    fits = whole and size > parameter.size and _fits(value, taken, parameter.size)
    passed = type_name(kind, size) if python else np.dtype(type(value)).name
    article = "an" if passed.startswith("i") else "a"
    origin = (
        f"Python's {type(value).__name__}, passed as {passed}" if python else f"{article} {passed}"
    )
    advice = f"Pass {_cast(parameter)}({parameter.name or 'value'})."
    if fits:
        effect = (
            f"On a little-endian machine the low {8 * parameter.size} bits happen to be right, so "
            f"this launch works; a larger number would be cut without a word."
        )
    elif size < parameter.size:
        effect = (
            f"The kernel reads {parameter.size} bytes where {size} are given: the rest is junk."
        )
    elif size == parameter.size:
        effect = f"The kernel reads its {size} bytes as {parameter.type_name}: another number."
    else:
        effect = f"The kernel takes the first {parameter.size} of its {size} bytes: another number."
    severity, rest = Severity.WARNING if fits else Severity.ERROR, f". {effect} {advice}"
    return _wrong(
        kernel,
        number,
        parameter,
        origin,
        kind=Defect.SCALAR_TYPE,
        rest=rest,
        severity=severity,
    )


def _fits(value: object, kind: int, size: int) -> bool:
    number = int(value)  # type: ignore[call-overload]
    bits = 8 * size
    low, high = (-(1 << bits - 1), 1 << bits - 1) if kind == SIGNED else (0, 1 << bits)
    return bool(low <= number < high)


def _cast(parameter: Parameter) -> str:
    if parameter.kind & BRAIN:
        return "ml_dtypes.bfloat16"
    kind = {SIGNED: "int", UNSIGNED: "uint", FLOATING: "float", BOOLEAN: "bool"}
    name = kind[parameter.kind & 0xFF]
    return f"np.{name}" if name == "bool" else f"np.{name}{8 * parameter.size}"
