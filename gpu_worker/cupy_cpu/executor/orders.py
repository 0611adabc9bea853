"""One launch in several orders of threads, each from the same memory: do the results agree?"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from . import abi
from .diagnostics import Diagnostic
from .kinds import Kind, cause_rank
from .memory import Allocation
from .report import LaunchReport, Order

if TYPE_CHECKING:
    from .launching import Launching
    from .module import Module

Content = tuple[NDArray[np.uint8], NDArray[np.uint8] | None]
"""What an allocation holds, and which of it was written."""

_NOT_KEPT: Final = (abi.GONE, abi.CONSTANT)


class Keeper:
    """Has the native half copy what a launch writes beside the arrays that it is told of.

    Such arrays are reached through a table of addresses, a member of a structure, or a pointer
    whose `const` was cast away: that they are written is known once they are.
    """

    def __init__(self, told: Sequence[Allocation]) -> None:
        self._told = {allocation.address for allocation in told}
        self._watched: list[tuple[int, Allocation]] = []
        self.kept: list[tuple[Allocation, Content]] = []
        """What was written, and what it held before."""

    def watch(self, table: ctypes.Array[abi.Buffer], known: Sequence[Allocation]) -> None:
        """Mark the rows of a launch's table of which a copy is to be kept."""
        self._watched = [
            (place, allocation)
            for place, allocation in enumerate(known)
            if allocation.address not in self._told and table[place].state not in _NOT_KEPT
        ]
        for place, _ in self._watched:
            table[place].state = abi.UNTOUCHED

    def take(self, table: ctypes.Array[abi.Buffer], module: Module) -> None:
        """Take over the native half's copies, and free them there."""
        for place, allocation in self._watched:
            address = table[place].before
            if address:
                self.kept.append((allocation, _copied(address, allocation)))
                module.release(address)


def run_in_orders(
    launching: Launching, orders: Sequence[Order], seed: int, step_limit: int
) -> LaunchReport:
    """Run in each order from the same memory, compare, and keep the first's result."""
    told = launching.writable()
    before: dict[Allocation, Content] = {allocation: _content(allocation) for allocation in told}
    reports, results = [], []
    for order in orders:
        _restore(before)
        keeper = Keeper(told)
        reports.append(launching.run(order, seed, step_limit, keeper=keeper))
        for allocation, content in keeper.kept:
            before.setdefault(allocation, content)
        results.append({allocation: _content(allocation) for allocation in before})
    # What an order did not write is not among its results if no earlier one wrote it either.
    results = [{**before, **result} for result in results]
    _restore(results[0])
    first = reports[0]
    for report in reports[1:]:
        known = {(item.kind, item.line) for item in first.diagnostics}
        first.diagnostics += [d for d in report.diagnostics if (d.kind, d.line) not in known]
    if all(item.kind is not Kind.ATOMIC_SUM for item in first.diagnostics):
        # Those sums explain that the orders differ; nothing else that does says it is atomic.
        first.diagnostics += _differences(launching, results)
    first.diagnostics.sort(key=lambda item: cause_rank(item.kind))
    return first


def _differences(
    launching: Launching, results: Sequence[dict[Allocation, Content]]
) -> list[Diagnostic]:
    found = []
    for allocation, (first, _) in results[0].items():
        for other in results[1:]:
            different = np.flatnonzero(first != other[allocation][0])
            if different.size:
                words = launching.words()
                found.append(words.order_dependent(allocation, int(different[0])))
                break
    return found


def _restore(contents: dict[Allocation, Content]) -> None:
    for allocation, (content, written) in contents.items():
        allocation.bytes[:] = content
        if written is not None and allocation.written_map is not None:
            allocation.written_map[:] = written


def _content(allocation: Allocation) -> Content:
    written = allocation.written_map
    return allocation.bytes.copy(), None if written is None else written.copy()


def _copied(address: int, allocation: Allocation) -> Content:
    marks = 0 if allocation.written_map is None else allocation.written_map.size
    kept: Any = (ctypes.c_ubyte * (allocation.nbytes + marks)).from_address(address)
    values = np.frombuffer(kept, np.uint8).copy()
    return values[: allocation.nbytes], values[allocation.nbytes :] if marks else None
