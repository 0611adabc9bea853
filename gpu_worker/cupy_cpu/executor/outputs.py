"""Checks that kernels have written every element of a result."""

from __future__ import annotations

from typing import Final

from .defects import Defect, Severity
from .diagnostics import Diagnostic
from .memory import Allocation
from .report import LaunchReport

_NOT_LAUNCHED: Final = (
    "No kernel was launched after it was made. Launch one that fills it, for arrays of every "
    "number of dimensions and every size."
)
_NOT_BY_ANY: Final = (
    "No kernel that was launched after it was made wrote to it. Pass it to one that fills it."
)


def unwritten_output(
    label: str, allocation: Allocation, itemsize: int, launches: int | None = None
) -> Diagnostic | None:
    """Return a diagnostic if part of a result was never written, else None.

    `launches`: how many launches there were since it was made, if that is known.
    """
    missing, first = allocation.unwritten()
    if not missing:
        return None
    total = allocation.nbytes // itemsize
    count = -(-missing // itemsize)
    return unwritten_elements(label, count, first // itemsize, total, allocation.writer, launches)


def unwritten_elements(
    label: str,
    count: int,
    first: int,
    total: int,
    writer: LaunchReport | None = None,
    launches: int | None = None,
) -> Diagnostic:
    """Return what it means that `count` of an array's elements were never written.

    `first` is the flat index of the first of them, `writer` the last launch that wrote to the
    array at all, and `launches` how many there were since it was made, if that is known.
    """
    message = (
        f"{count:,} of the {total:,} elements of {label} were never written, the first at index "
        f"{first}: they hold junk. "
    )
    if writer is not None:
        message += (
            f"The last launch that wrote to it, {writer.kernel}, had {writer.counters.threads:,} "
            f"threads: grid {writer.grid} of blocks {writer.block}. Take enough blocks for the "
            "last elements too, (n + threads - 1) // threads, or let threads go on in a loop."
        )
    else:
        message += _NOT_LAUNCHED if launches == 0 else _NOT_BY_ANY
    detail = {"elements": count, "first": first}
    kernel = writer.kernel if writer else ""
    return Diagnostic(Defect.UNWRITTEN_OUTPUT, Severity.ERROR, kernel, None, message, detail)
