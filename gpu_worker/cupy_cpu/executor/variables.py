"""`__device__` and `__constant__` variables: watched like other device memory."""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Sequence

import numpy as np

from . import abi
from .memory import Allocation, Memory


class Variable(Allocation):
    """A variable of a loaded module, outside of its functions; it is filled before any kernel runs.

    `granule` bytes of it are watched as one for races, `itemsize` are an element. `constant`: no
    kernel writes it, and its reads are no traffic.
    """

    def __init__(self, address: int, nbytes: int, name: str) -> None:
        self.address, self.nbytes, self.end = address, nbytes, address + nbytes
        self.name = name
        self.freed = False
        self.bytes = np.ctypeslib.as_array((ctypes.c_ubyte * nbytes).from_address(address))
        self._written = None
        self._row_of = (False, True)
        self.describe(4, 4, constant=False)

    def describe(self, itemsize: int, granule: int, *, constant: bool) -> None:
        """Say what is known of its type."""
        self.itemsize, self.granule, self.constant = int(itemsize), int(granule), constant
        state = abi.CONSTANT if constant else 0
        self._row = abi.BUFFER.pack(self.address, self.end, 0, 0, 0, state, *(0,) * 5)


class Reachable:
    """What a kernel can reach: device memory, and the variables of its module, as one memory."""

    def __init__(self, memory: Memory, variables: Sequence[Variable]) -> None:
        self._memory = memory
        self._variables = variables
        self._starts = [variable.address for variable in variables]

    def find(self, address: int) -> Allocation | None:
        """Return the allocation or variable that an address lies in."""
        at = bisect.bisect(self._starts, address) - 1
        if at >= 0 and address < self._variables[at].end:
            return self._variables[at]
        return self._memory.find(address)

    def nearest(self, address: int) -> Allocation | None:
        """Return the allocation or variable next to an address that lies in none."""
        at = bisect.bisect(self._starts, address)
        near: list[Allocation] = list(self._variables[max(0, at - 1) : at + 1])
        other = self._memory.nearest(address)
        if other is not None:
            near.append(other)
        return min(near, key=lambda item: max(item.address - address, address - item.end),
                   default=None)  # fmt: skip

    def known(self) -> list[Allocation]:
        """Return all of them by address."""
        return sorted((*self._memory.known(), *self._variables), key=lambda item: item.address)
