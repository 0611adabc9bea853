"""Advice for accepted programs of the CuPy track, drawn from their counts.

Only goals of the exercise are mentioned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.running.timed_calls import ARRAYS_MOVED
from gpu_worker.judge.verdict.notes import Access, ArrayTraffic, KernelNote
from gpu_worker.messages.protocol import CountedCall

_MUCH: Final = 1.25
"""Moving this many times the minimum is worth mentioning."""
_SCATTERED: Final = 0.6
_WORTH_A_WORD: Final = 0.1
"""The share of a kernel's sectors that a line must waste to be mentioned."""
_LOW_OCCUPANCY: Final = 0.5
_CONFLICTS: Final = 16
_WARP: Final = 32
_MOST_LINES: Final = 4
WIDEST: Final = 16.0
"""Bytes: the widest load that a thread has."""


def of_call(exercise: Exercise, row: CountedCall, array_bytes: int) -> Iterator[str]:
    """Yield what a call moves beyond what it must, and why, as far as the counts show it."""
    moved = row.bytes_read + row.bytes_written
    least = ARRAYS_MOVED[row.direction]
    if moved > _MUCH * row.bytes_least and not _is_enough(exercise, row, array_bytes):
        sentence = (
            f"{row.direction}: {moved / array_bytes:.3g} NDs moved "
            f"({row.bytes_read / array_bytes:.3g} read, {row.bytes_written / array_bytes:.3g} "
            f"written), the least is {least} NDs, where NDs is the size of x. "
            f"{_why(row, array_bytes)}"
        )
        yield sentence.rstrip()


def of_accesses(direction: str, kernel: KernelNote, name: str, lines: int) -> Iterator[str]:
    """Yield whether blocks fill no warp, and which lines leave sectors unused or meet in banks.

    `lines` is the number of lines of its source: others that a note may name are left out.
    """
    threads = math.prod(kernel.block)
    if threads < _WARP and not kernel.generated:
        yield (
            f"{direction}, {name}: blocks of {threads} thread{'s' * (threads != 1)} leave "
            f"{_WARP - threads} of the {_WARP} lanes of a warp idle, and each of their loads moves "
            "a sector of 32 bytes or more. Launch blocks of a multiple of 32 threads, and let them "
            "share a row."
        )
    accesses = kernel.counters.accesses
    scattered = [] if kernel.generated else _scattered(accesses)
    if scattered:
        told = "; ".join(
            f"{one.ideal_sectors / one.sectors:.0%} where it "
            f"{'writes' if one.write else 'reads'}{_on_line(one, lines)}"
            for one in scattered[:_MOST_LINES]
        )
        yield (
            f"{direction}, {name}: the sectors of 32 bytes that it moves are used in part only: "
            f"{told}. Let neighbouring threads take neighbouring elements."
        )
    meeting = [one for one in accesses if one.space == "shared" and one.bank_conflicts]
    conflicts = sum(one.bank_conflicts for one in meeting)
    if conflicts > _CONFLICTS:
        worst = max(meeting, key=lambda one: one.bank_conflicts)
        where = _on_line(worst, lines)
        yield (
            f"{direction}, {name}: {conflicts} bank conflicts in shared memory"
            f"{f', most of them{where}' if where else ''}. Threads of a warp that use different "
            "words of one bank wait for each other: change the stride, for example by padding a "
            "row by one element."
        )


def read_again(
    exercise: Exercise, row: CountedCall, kernel: KernelNote, name: str, array_bytes: int
) -> Iterator[str]:
    """Yield which large arrays a kernel of a call reads more than once, if the exercise asks for
    less.
    """
    if _is_enough(exercise, row, array_bytes):
        return
    for array in kernel.counters.arrays:
        times = array.bytes_read / max(array.nbytes, 1)
        if 2 * array.nbytes >= array_bytes and times > _MUCH:
            yield (
                f"{row.direction}, {name}: reads {_named(array)} "
                f"{_times(times)}. Once is enough: keep the row in registers or in shared memory."
            )


def narrow(
    exercise: Exercise, row: CountedCall, kernel: KernelNote, name: str, row_bytes: int
) -> Iterator[str]:
    """Yield which arrays, a row long or longer, a kernel moves less of at once than its exercise
    asks for.
    """
    asked = [b.at_once for b in exercise.budgets if b.at_once and b.direction == row.direction]
    for array in kernel.counters.arrays if asked else ():
        if array.nbytes >= row_bytes and (array.at_once or WIDEST) < max(asked):
            yield (
                f"{row.direction}, {name}: moves {_named(array)} "
                f"{array.at_once:.3g} bytes at once on average; {max(asked):.3g} are asked for."
            )


def of_resources(row: CountedCall) -> Iterator[str]:
    """Yield what kernels of a call ask of a multiprocessor beyond what does it good."""
    for kernel in row.kernels:
        if kernel.spilled_bytes:
            yield (
                f"{row.direction}, {kernel.name}: {kernel.spilled_bytes} bytes a thread do not fit "
                "into registers and are kept in slow memory. Hold fewer values a thread."
            )
        # A launch without threads is refused, and reported as an error.
        if kernel.occupancy and kernel.occupancy < _LOW_OCCUPANCY:
            bounds = "bound" if kernel.occupancy_limit == "registers" else "bounds"
            yield (
                f"{row.direction}, {kernel.name}: {kernel.occupancy:.0%} of the warps can run at "
                f"once; {kernel.occupancy_limit} {bounds} it."
            )


def _scattered(accesses: list[Access]) -> list[Access]:
    """Return the accesses to global memory that waste sectors, the most wasteful first."""
    of_arrays = [one for one in accesses if one.space == "global" and one.sectors]
    total = sum(one.sectors for one in of_arrays)
    wasteful = [
        one
        for one in of_arrays
        if one.ideal_sectors < _SCATTERED * one.sectors
        and one.sectors - one.ideal_sectors >= _WORTH_A_WORD * total
    ]
    return sorted(wasteful, key=_waste, reverse=True)


def _named(array: ArrayTraffic) -> str:
    return array.label or f"its argument {array.place + 1} (an array)"


def _waste(access: Access) -> int:
    return access.sectors - access.ideal_sectors


def _on_line(access: Access, lines: int) -> str:
    known = access.line is not None and 1 <= access.line <= lines
    return f" on line {access.line} of its source" if known else ""


def _is_enough(exercise: Exercise, row: CountedCall, array_bytes: int) -> bool:
    """Tell whether a call moves no more than its exercise asks for.

    That is what its budget allows; where budgets bound the other direction alone, anything.
    """
    if not exercise.budgets:
        return False
    allowed = [one.moved for one in exercise.budgets if one.direction == row.direction]
    moved = (row.bytes_read + row.bytes_written) / array_bytes
    return not allowed or moved <= min(allowed)


def _times(number: float) -> str:
    return "twice" if f"{number:.3g}" == "2" else f"{number:.3g} times"


def _why(row: CountedCall, array_bytes: int) -> str:
    """Return where the bytes come from, as far as the counts of the call show it."""
    if not row.launches:
        return "Values go to the host and come back: compute on the device."
    if row.launches > len(row.kernels) + 2 or not row.kernels:
        return (
            f"It takes {row.launches} launches, and each reads its inputs and writes its output: "
            "do more in one kernel."
        )
    if row.bytes_written > _MUCH * array_bytes:
        return (
            "More is written than the result: what one kernel leaves for another is written and "
            "read once more. Leave fewer parts."
        )
    return ""
