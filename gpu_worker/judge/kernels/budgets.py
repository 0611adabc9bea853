"""Compares the counts of a correct submission with the budgets of its exercise.

A budget bounds what a call moves and launches, and sets the least width of its accesses. The
counts are the runner's word, taken beside the learner's code, so a budget can only take an
acceptance away: it never decides whether results are correct. What was not counted exceeds its
budget.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gpu_worker.cupy_cpu.executor.defects import Defect
from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import Budget
from gpu_worker.judge.kernels.counting import MAX_KERNELS
from gpu_worker.judge.kernels.occupancy import CHIP_BYTES, local_bytes
from gpu_worker.messages.protocol import Counted, CountedCall, Failure, Finding, GroupResult

_ONLY_LAUNCHES: Final = "What is moved would do."
_NOT_KERNELS: Final = (
    "to fill a new array, as cp.zeros does, is a launch, and so are a copy from one array to "
    "another and every operation between arrays."
)


@dataclass(frozen=True, slots=True)
class Spent:
    """One budget, and the call that was counted for it, if one was.

    `refused` is why NVIDIA's compiler refuses a kernel that the call launched, or why a device
    refuses some launch of the submission; None if neither does.
    """

    budget: Budget
    call: CountedCall | None
    array_bytes: int
    refused: Finding | None = None

    @property
    def moved(self) -> float:
        """How many times the bytes of x were moved; infinitely often where nothing was counted."""
        if self.call is None:
            return float("inf")
        return (self.call.bytes_read + self.call.bytes_written) / self.array_bytes

    @property
    def kept(self) -> bool:
        """Whether the call stayed within the budget, and moved what any right program must."""
        if self.call is None or self.too_little or self.refused:
            return False
        return not (self.too_much or self.by_the_host or self.too_narrow or self.off_chip)

    @property
    def too_little(self) -> bool:
        """Whether less was counted than must be moved, so that not all of it was."""
        call = self.call
        return call is not None and call.bytes_read + call.bytes_written < call.bytes_least

    @property
    def by_the_host(self) -> bool:
        """Whether nothing was launched."""
        return self.call is not None and self.call.launches == 0

    @property
    def too_much(self) -> bool:
        """Whether more was moved or launched than is allowed."""
        return self.too_many or self.moved > self.budget.moved

    @property
    def by_its_source(self) -> bool:
        """Whether a kernel that no device runs is what speaks against the call."""
        return self.refused is not None and not self.too_much and not self.by_the_host

    @property
    def too_many(self) -> bool:
        """Whether more was launched than is allowed."""
        most = self.budget.launches
        return self.call is not None and most is not None and self.call.launches > most

    @property
    def others(self) -> int:
        """How many launches are of no kernel of the learner's; 0 where not all are listed."""
        call = self.call
        if call is None or len(call.kernels) >= MAX_KERNELS:
            return 0
        return max(0, call.launches - sum(one.launches for one in call.kernels))

    @property
    def only_launches(self) -> bool:
        """Whether nothing but the number of launches speaks against the call."""
        others = self.moved > self.budget.moved or self.refused or self.too_narrow or self.off_chip
        return self.too_many and not others

    @property
    def too_narrow(self) -> bool:
        """Whether a kernel's loads and stores move less at once than they must."""
        least = self.budget.at_once
        return least is not None and self.at_once < least

    @property
    def off_chip(self) -> int:
        """Bytes that a block of a kernel keeps in local memory, if no multiprocessor has so many:
        they go through device memory then, and no count holds them. 0 for less.
        """
        kernels = self.call.kernels if self.call else []
        kept = (local_bytes(math.prod(one.block), one.spilled_bytes or 0) for one in kernels)
        return max((size for size in kept if size > CHIP_BYTES), default=0)

    @property
    def at_once(self) -> float:
        """What a load or store moves on average in the kernel where that is least, in bytes; 0
        where it is not known, as for the kernels that CuPy writes around expressions.
        """
        kernels = self.call.kernels if self.call else []
        # Accesses that were not counted are taken to be narrow.
        return min((one.bytes_at_once or 0.0 for one in kernels), default=0.0)


Refused = Mapping[tuple[tuple[int, ...], str], Finding]
"""Why a device would not run a kernel of a call, by the call's shape and direction."""


def spent(
    exercise: Exercise, counts: Sequence[Counted], refused: Refused | None = None
) -> list[Spent]:
    """Return each budget of an exercise with what was counted for it."""
    return [_spent(budget, counts, refused or {}) for budget in exercise.budgets]


def _spent(budget: Budget, counts: Sequence[Counted], refused: Refused) -> Spent:
    rows, columns = budget.shape
    calls = [
        call
        for counted in counts
        if tuple(counted.shape) == budget.shape
        for call in counted.rows
        if call.direction == budget.direction
    ]
    # One call in each direction was requested; any other number cannot be what was counted.
    call = calls[0] if len(calls) == 1 else None
    return Spent(budget, call, rows * columns * 4, refused.get((budget.shape, budget.direction)))


def budget_results(exercise: Exercise, spendings: Sequence[Spent] | None) -> list[GroupResult]:
    """Return the result of each group of budgets; not run where nothing was counted yet (None)."""
    results = []
    for group in exercise.groups:
        total = sum(budget.group == group.id for budget in exercise.budgets)
        if not total:
            continue
        kept = sum(one.kept for one in spendings or () if one.budget.group == group.id)
        results.append(
            GroupResult(
                id=group.id,
                title=group.title,
                weight=group.weight,
                passed=None if spendings is None else kept == total,
                cases=total,
                cases_passed=kept,
            )
        )
    return results


def over_budget(spendings: Sequence[Spent]) -> Failure | None:
    """Return why a right submission is not accepted: the first budget that is not kept."""
    over = next((one for one in spendings if not one.kept), None)
    if over is None:
        return None
    reason = _measured(over)
    if over.only_launches:
        reason += f" {_ONLY_LAUNCHES}"
    if over.call and over.too_many and over.others and not over.too_little:
        is_one = "is no kernel" if over.others == 1 else "are no kernels"
        of_all = f"Of the {_launches(over.call.launches)} {over.others} {is_one} of yours"
        reason += f" {of_all}: {_NOT_KERNELS}"
    # Bytes and launches are no help if no device accepts the source.
    explained = reason if over.by_its_source else f"{reason} {over.budget.explanation}"
    return Failure(message=f"Every result is right. {explained}")


def _measured(over: Spent) -> str:
    budget, call = over.budget, over.call
    size = " × ".join(map(str, budget.shape))
    if call is None:
        return f"But no call of {budget.direction} could be counted for x of shape {size}."
    if over.by_the_host and not over.too_little and not over.too_much:
        return (
            f"But for x of shape {size}, {budget.direction} launched no kernel: the budget is "
            "about what the device does, and the host did it."
        )
    if over.too_little:
        return (
            f"But for x of shape {size}, {budget.direction} was seen to move only "
            f"{over.moved:.3g} times the bytes of x, and must move "
            f"{call.bytes_least / over.array_bytes:.3g} times: the budget is about what the device "
            "does."
        )
    if over.refused and over.by_its_source and over.refused.kind == Defect.LAUNCH_SIZE:
        kernel = f", kernel {over.refused.kernel}" if over.refused.kernel else ""
        return (
            f"But a launch is one that no device makes ({over.refused.case}{kernel}). "
            f"{over.refused.message}"
        )
    if over.refused and over.by_its_source:
        line = f" (line {over.refused.line} of your file)" if over.refused.line else ""
        return (
            f"But for x of shape {size}, {budget.direction} launches a kernel that NVIDIA's "
            f"compiler refuses, or reads otherwise than it runs here{line}. {over.refused.message} "
            "What its threads keep in registers on a device cannot be told."
        )
    if over.off_chip and not over.too_much:
        return (
            f"But for x of shape {size}, the threads of a block in {budget.direction} have arrays "
            "of their own for which there are no registers. What lies there is written to the "
            f"device's memory and read again, uncounted: there is room for {over.off_chip:,} bytes "
            f"in them, and a multiprocessor has {CHIP_BYTES:,} on the chip."
        )
    if not over.too_much and not over.at_once:
        return (
            f"But for x of shape {size}, how much the kernels of {budget.direction} move with one "
            "load or store is not known of all that they move: give them the arrays as arguments."
        )
    if not over.too_much:
        return (
            f"But for x of shape {size}, a load or store of a thread in {budget.direction} moves "
            f"only {over.at_once:.3g} bytes of one of the arrays at once, on average; at least "
            f"{budget.at_once:.3g} are asked for."
        )
    most = "" if budget.launches is None else f" in {_launches(budget.launches)}"
    return (
        f"But for x of shape {size}, {budget.direction} moves {over.moved:.3g} times the bytes of "
        f"x ({call.bytes_read / over.array_bytes:.3g} read, "
        f"{call.bytes_written / over.array_bytes:.3g} written) in {_launches(call.launches)}; "
        f"allowed are {budget.moved:.3g} times{most}."
    )


def _launches(number: int) -> str:
    return f"{number} launch{'es' if number != 1 else ''}"
