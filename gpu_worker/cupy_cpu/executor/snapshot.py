"""Snapshots of the memory that a launch writes, so that it can run again from the same state."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import abi
from .library import Library
from .memory import Allocation

Content = tuple[NDArray[np.uint8], NDArray[np.uint8] | None]
"""The content of an allocation, and which bytes of it were written."""

_NOT_KEPT: Final = (abi.GONE, abi.CONSTANT)


class Snapshot:
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
        """Mark the rows of a launch's table that are to be copied before they are written."""
        self._watched = [
            (place, allocation)
            for place, allocation in enumerate(known)
            if allocation.address not in self._told and table[place].state not in _NOT_KEPT
        ]
        for place, _ in self._watched:
            table[place].state = abi.UNTOUCHED

    def take(self, table: ctypes.Array[abi.Buffer], library: Library) -> None:
        """Take over the native half's copies, and free them there."""
        for place, allocation in self._watched:
            address = table[place].before
            if address:
                self.kept.append((allocation, _copied(address, allocation)))
                library.release(address)


def restore(contents: Mapping[Allocation, Content]) -> None:
    """Put back what allocations held, and which of it was written."""
    for allocation, (content, written) in contents.items():
        allocation.bytes[:] = content
        if written is not None and allocation.written_map is not None:
            allocation.written_map[:] = written


def content_of(allocation: Allocation) -> Content:
    """Return a copy of what an allocation holds now."""
    written = allocation.written_map
    return allocation.bytes.copy(), None if written is None else written.copy()


def _copied(address: int, allocation: Allocation) -> Content:
    marks = 0 if allocation.written_map is None else allocation.written_map.size
    kept: Any = (ctypes.c_ubyte * (allocation.nbytes + marks)).from_address(address)
    values = np.frombuffer(kept, np.uint8).copy()
    return values[: allocation.nbytes], values[allocation.nbytes :] if marks else None
