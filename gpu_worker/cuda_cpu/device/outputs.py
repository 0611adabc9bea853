"""Whether kernels have written all of a result."""

from __future__ import annotations

from .diagnostics import Diagnostic
from .kinds import Kind, Severity
from .memory import Allocation
from .report import LaunchReport


def unwritten_output(
    label: str, allocation: Allocation, itemsize: int, last: LaunchReport | None = None
) -> Diagnostic | None:
    """Return what is wrong with a result of which a part was never written; None if nothing.

    `last` is the launch that should have written it, for its size.
    """
    missing, first = allocation.unwritten()
    if not missing:
        return None
    total = allocation.nbytes // itemsize
    return unwritten_elements(label, -(-missing // itemsize), first // itemsize, total, last)


def unwritten_elements(
    label: str, count: int, first: int, total: int, last: LaunchReport | None = None
) -> Diagnostic:
    """Return what it means that `count` of an array's elements were never written.

    `first` is the flat index of the first of them.
    """
    launched = ""
    if last is not None:
        threads = last.counters.threads
        launched = (
            f" The last launch, {last.kernel}, had {threads:,} threads: grid {last.grid} of blocks "
            f"{last.block}."
        )
    message = (
        f"{count:,} of the {total:,} elements of {label} were never written, the first at index "
        f"{first}: they hold junk.{launched} Take enough blocks for the last elements "
        "too, (n + threads - 1) // threads, or let threads go on in a loop."
    )
    detail = {"elements": count, "first": first}
    kernel = last.kernel if last else ""
    return Diagnostic(Kind.UNWRITTEN_OUTPUT, Severity.ERROR, kernel, None, message, detail)
