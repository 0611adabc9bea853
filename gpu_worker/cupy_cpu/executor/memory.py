"""Device memory: allocations are kept apart, so that an address identifies its allocation."""

from __future__ import annotations

import bisect
import ctypes
import mmap
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from . import abi

if TYPE_CHECKING:
    from .report import LaunchReport

ALIGNMENT: Final = 256
"""What a device's allocator promises, and vector loads rely on."""
RED_ZONE_BYTES: Final = 64 * 1024
"""Nothing is nearer to an allocation than this, unless both are small."""
SMALL_BYTES: Final = 4096
SMALL_RED_ZONE_BYTES: Final = 2048
CHUNK_BYTES: Final = 4 << 20
REMEMBERED_BYTES: Final = 32 << 20
REMEMBERED: Final = 256
"""Freed memory is kept up to this size in sum and this number, so that late accesses can be told.
What is forgotten is given out again."""
_POISON: Final = 0xFF
_WRITTEN_SHIFT: Final = 1


class Allocation:
    """A piece of device memory. `bytes` (nbytes,) uint8 is what it holds.

    Fresh memory holds NaN in every float format, and remembers which of it was written.
    """

    itemsize = 1
    """Of its elements, where it knows more than the argument that brings it."""

    def __init__(self, owner: _Chunk, offset: int, nbytes: int, name: str) -> None:
        self.owner = owner
        self.offset = offset
        self.nbytes = nbytes
        self.name = name
        self.freed = False
        self.address = owner.address + offset
        self.bytes: NDArray[np.uint8] = np.frombuffer(owner.pages, np.uint8, nbytes, offset)
        self._written: NDArray[np.uint8] | None = np.zeros((nbytes + 1) // 2, np.uint8)
        self._written_address = address_of(self._written)
        self._row = b""
        self._row_of: tuple[bool, bool] | None = None
        self.end = self.address + nbytes
        self.writer: LaunchReport | None = None
        """The last launch that wrote to it before it was known to be written wholly."""
        self.launches_before = 0
        """How many launches there had been on its device when it was made."""

    @property
    def written_map(self) -> NDArray[np.uint8] | None:
        """One byte per two bytes of memory, nonzero once written; None when all was."""
        return self._written

    @property
    def row(self) -> bytes:
        """Its row in the table that a launch is given, see `abi.Buffer`."""
        state = (self.freed, self._written is None)
        if self._row_of != state:
            written = 0 if any(state) else self._written_address
            gone = abi.GONE if self.freed else 0
            self._row = abi.BUFFER.pack(self.address, self.end, written, 0, 0, gone, *(0,) * 5)
            self._row_of = state
        return self._row

    def mark_written(self, offset: int = 0, nbytes: int | None = None) -> None:
        """Say that code outside of kernels has written `nbytes` from `offset` on; None: all."""
        if self._written is None:
            return
        if nbytes is None or (offset == 0 and nbytes >= self.nbytes):
            self._written = None
        elif nbytes > 0:
            self._written[offset >> _WRITTEN_SHIFT : (offset + nbytes + 1) >> _WRITTEN_SHIFT] = 1

    def unwritten(self) -> tuple[int, int]:
        """Return how many bytes were never written, and the offset of the first; (0, -1): none."""
        if self._written is None or self.nbytes == 0:
            return 0, -1
        missing = np.flatnonzero(self._written == 0)
        if missing.size == 0:
            self._written = None
            return 0, -1
        return min(2 * int(missing.size), self.nbytes), 2 * int(missing[0])


class Memory:
    """All allocations of one device.

    Raises of `allocate`: MemoryError, where `limit_bytes` would be passed or there is no more.
    """

    def __init__(self, limit_bytes: int | None = None) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self.launches = 0
        """How many kernels were launched on it."""
        self._chunk: _Chunk | None = None
        self._starts: list[int] = []
        self._known: list[Allocation] = []
        self._freed: deque[Allocation] = deque()
        self._freed_bytes = 0
        self._reusable: dict[int, list[tuple[_Chunk, int]]] = {}

    def allocate(self, nbytes: int, *, initialised: bool = False, name: str = "") -> Allocation:
        """Return fresh memory; `initialised`: the caller fills it before any kernel reads it."""
        if nbytes < 0:
            raise ValueError("The size of an allocation cannot be negative.")
        if self.limit_bytes is not None and self.used_bytes + nbytes > self.limit_bytes:
            raise MemoryError(
                f"Out of device memory: {nbytes} bytes more than the {self.used_bytes} in use pass "
                f"the limit of {self.limit_bytes} bytes."
            )
        chunk, offset = self._place(nbytes)
        allocation = Allocation(chunk, offset, nbytes, name)
        allocation.launches_before = self.launches
        if initialised:
            allocation.mark_written()
        else:
            allocation.bytes[:] = _POISON
        at = bisect.bisect(self._starts, allocation.address)
        self._starts.insert(at, allocation.address)
        self._known.insert(at, allocation)
        self.used_bytes += nbytes
        return allocation

    def free(self, allocation: Allocation) -> None:
        """Give memory back. It stays known for a while, full of NaN, so that using it is told."""
        if allocation.freed:
            return
        allocation.freed = True
        allocation.bytes[:] = _POISON
        self.used_bytes -= allocation.nbytes
        self._freed.append(allocation)
        self._freed_bytes += allocation.nbytes
        while self._freed_bytes > REMEMBERED_BYTES or len(self._freed) > REMEMBERED:
            self._forget(self._freed.popleft())

    def find(self, address: int) -> Allocation | None:
        """Return the allocation, also a freed one, that an address lies in."""
        at = bisect.bisect(self._starts, address) - 1
        if at < 0 or address >= self._known[at].end:
            return None
        return self._known[at]

    def nearest(self, address: int) -> Allocation | None:
        """Return the allocation next to an address that lies in none."""
        at = bisect.bisect(self._starts, address)
        near = [self._known[i] for i in (at - 1, at) if 0 <= i < len(self._known)]
        if not near:
            return None
        return min(near, key=lambda item: max(item.address - address, address - item.end))

    def known(self) -> list[Allocation]:
        """Return all allocations, also freed ones that are remembered, by address."""
        return list(self._known)

    def _forget(self, allocation: Allocation) -> None:
        at = bisect.bisect_left(self._starts, allocation.address)
        while self._known[at] is not allocation:
            at += 1
        del self._starts[at], self._known[at]
        self._freed_bytes -= allocation.nbytes
        if allocation.owner.size == CHUNK_BYTES:
            key = _rounded(allocation.nbytes)
            self._reusable.setdefault(key, []).append((allocation.owner, allocation.offset))

    def _place(self, nbytes: int) -> tuple[_Chunk, int]:
        red_zone = SMALL_RED_ZONE_BYTES if nbytes <= SMALL_BYTES else RED_ZONE_BYTES
        size = _rounded(nbytes)
        if self._reusable.get(size):
            return self._reusable[size].pop()
        if 2 * red_zone + size > CHUNK_BYTES // 4:
            chunk = _Chunk(2 * red_zone + size)
            return chunk, red_zone
        if self._chunk is None or self._chunk.free_from + size + 2 * red_zone > self._chunk.size:
            self._chunk = _Chunk(CHUNK_BYTES)
        offset = self._chunk.free_from + red_zone
        self._chunk.free_from = offset + size
        return self._chunk, offset


def _rounded(nbytes: int) -> int:
    return -(-max(nbytes, 1) // ALIGNMENT) * ALIGNMENT


class _Chunk:
    """Pages of the operating system's, from which allocations are cut. Page-aligned."""

    def __init__(self, size: int) -> None:
        try:
            self.pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"Out of device memory: {size} bytes are not to be had.") from error
        self.size = size
        self.free_from = 0
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))


def address_of(array: NDArray[Any]) -> int:
    """Return where an array's first element lies."""
    return int(array.__array_interface__["data"][0])
