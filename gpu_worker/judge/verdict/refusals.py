"""Messages for classes that break the contract: how, and how to fix it."""

from __future__ import annotations

import builtins
from typing import Final

from gpu_worker.judge.cases.case import Case, quantity_of
from gpu_worker.judge.verdict.kernel_faults import MEANINGS
from gpu_worker.judge.verdict.transcript import Refused
from gpu_worker.messages.protocol import MAX_SOURCE_BYTES
from gpu_worker.sandbox.inside.script import CALLS
from gpu_worker.sandbox.inside.wire import Operation, Reason

FORBIDDEN_IMPORT: Final = (
    "Your file imports a package that is not available here. Use Python's standard library, NumPy, "
    "and on the CuPy track CuPy, only. Of cupyx, a part of CuPy, nothing is offered on a worker "
    "without a GPU."
)
_OTHER_BYTE_ORDERS: Final = frozenset({">f2", ">f4", ">f8"})
_COMMON_NAMES: Final = frozenset(
    tuple(name for name, value in vars(builtins).items() if isinstance(value, type))
    + ("NoneType", "generator", "coroutine", "function", "method", "matrix", "memmap")
    + ("MaskedArray", "recarray", "object", "longdouble", "float128", "complex256")
    + ("numpy.ndarray", *_OTHER_BYTE_ORDERS)
)


def source_breach(source: str) -> str:
    """Return why a file cannot even be looked at, empty if it can."""
    try:
        size = len(source.encode("utf-8"))
    except UnicodeEncodeError:
        return "Your file is not valid UTF-8 text. Save it as UTF-8 and send it again."
    if size > MAX_SOURCE_BYTES:
        return (
            f"Your file has {size} bytes; at most {MAX_SOURCE_BYTES} are allowed. "
            "Remove what the exercise does not need."
        )
    return ""


def kernel_fault_text(kind: str) -> str:
    """Return a sentence on a kernel whose results cannot be relied on."""
    meaning = MEANINGS.get(kind, "A kernel's result cannot be relied on.")
    if kind == "unwritten-output":
        return f"A result holds junk, whatever numbers it had here. {meaning}"
    return f"A kernel is wrong, whatever numbers it gave here. {meaning}"


def refusal_text(refused: Refused, case: Case, called: int, *, show: bool) -> str:
    """Return a sentence on what is missing or of the wrong kind, and what to do.

    `called` is the position of the last call. `show` gives the learner's own words for it, which
    in a hidden case could carry its inputs: there, only names that the script, Python and NumPy
    give are shown.
    """
    operations = case.script.operations
    names = _COMMON_NAMES | {op.name for op in operations} | CALLS
    text, other = refused.text, ""
    if refused.reason in (Reason.ATTRIBUTE_MISSING, Reason.PARAMETER_MISSING):
        text, _, other = refused.text.partition(":")
    name = text[:80] if show or text in names else ""
    renamed = (
        f" It has {other[:80]}: what is called so elsewhere is {name} here."
        if show and other
        else ""
    )
    if refused.reason is Reason.METHOD_MISSING:
        return f"Your class has no method {name or 'of that name'}. Add it: the grader calls it."
    if refused.reason is Reason.ATTRIBUTE_MISSING:
        attribute = name or "for each gradient"
        where = f"Set self.{name} in backward." if name else "Set them in backward."
        return f"After backward, your class has no attribute {attribute}.{renamed} {where}"
    if refused.reason is Reason.PARAMETER_MISSING:
        return (
            f"Your class has no attribute {name or 'for each parameter'} once it is made.{renamed} "
            f"Set self.{name or '...'} in __init__: the grader puts values of its own there."
        )
    if refused.reason is Reason.PARAMETER_FIXED and name in {"x", "dout"}:
        return (
            f"The caller can no longer write to {name}: its flags or its shape were changed, for "
            f"example by {name}.setflags(write=False). It is the caller's array: leave it as it "
            "is, and work on a copy."
        )
    if refused.reason is Reason.PARAMETER_FIXED:
        return (
            f"The attribute {name or 'of a parameter'} of your class cannot be set, but the grader "
            "puts values of its own there. Make it an ordinary attribute, or give the property a "
            "setter."
        )
    if refused.reason is Reason.CALL_REFUSED:
        return _call_text(_at(operations, called), refused.text if show else "")
    return _result_text(refused, _at(operations, refused.position), name)


def _at(operations: tuple[Operation, ...], position: int) -> Operation | None:
    return operations[position] if 0 <= position < len(operations) else None


def _call_text(operation: Operation | None, words: str) -> str:
    said = f" Python says: {words[:300]}." if words else ""
    if operation is None or operation.kind != "new":
        method = operation.kind if operation else "A method"
        return (
            f"{method} cannot be called as the grader calls it, with one array besides self.{said} "
            "Write its parameters as the contract has them."
        )
    names = (["dim"] if operation.dim else []) + (["eps"] if operation.eps is not None else [])
    head = "def __init__(self, dim, eps=1e-6)" if operation.dim else "def __init__(self)"
    how = ", ".join(f"{name}=..." if operation.by_name else name for name in names)
    return (
        f"Your class cannot be made by a call with ({how}).{said} Its __init__ must take the "
        f"parameters of the contract, under their names and in their order: write {head}. Others "
        "need a default."
    )


def _result_text(refused: Refused, operation: Operation | None, name: str) -> str:
    result = quantity_of(operation) if operation and operation.send else "A result"
    if refused.reason is Reason.NOT_AN_ARRAY:
        if name == "NoneType" and operation and operation.send:
            to_do = (
                f"Set self.{result} in backward."
                if operation.kind == "get"
                else f"Let {operation.kind} return it."
            )
            return f"{result} is None. {to_do}"
        # A NumPy array is refused on the CuPy track only.
        wanted = "numpy.ndarray, or on the CuPy track a cupy.ndarray"
        if name == "numpy.ndarray":
            wanted = "cupy.ndarray"
        return (
            f"{result} is of type {name or 'a class of your own'}, but it must be exactly a "
            f"{wanted}."
        )
    if refused.reason is Reason.TOO_MANY_DIMENSIONS:
        return f"{result} has {name or 'too many'} dimensions, but it must have the shape of x."
    if refused.reason is Reason.RESULT_TOO_LARGE:
        has = f"has shape {name}" if name else "is far larger than anything that is asked for"
        return f"{result} {has}, but it must have the shape and the dtype that the contract gives."
    if name in _OTHER_BYTE_ORDERS:
        return (
            f"{result} has dtype {name}, whose bytes are in the other order than this machine's. "
            f"Convert it: {result}.astype({result}.dtype.newbyteorder('='))."
        )
    kind = f"dtype {name}, which" if name else "a dtype that"
    return f"{result} has {kind} cannot be compared: use a floating dtype."
