"""How many warps of a kernel can run at once on one multiprocessor, computed, not measured.

The limits are those of compute capability 9.0 (H100, H200): NVIDIA, "CUDA C++ Programming Guide",
section "Compute Capabilities"; the method is that of NVIDIA's header cuda_occupancy.h.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

WARP: Final = 32
WARPS: Final = 64
BLOCKS: Final = 32
BLOCK_THREADS: Final = 1024
REGISTERS: Final = 65_536
REGISTERS_AT_ONCE: Final = 256
"""Registers are given to a warp in portions of this size."""
PARTITIONS: Final = 4
"""Each has a quarter of the registers, and a warp's are all of one quarter."""
SHARED_BYTES: Final = 228 * 1024
SHARED_BYTES_RESERVED: Final = 1024
"""The system keeps this of shared memory for each block."""
SHARED_BYTES_AT_ONCE: Final = 128
CHIP_BYTES: Final = 256 * 1024
"""Of a multiprocessor's cache and shared memory together."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`share` of the warps that there could be, and what bounds it, in words."""

    share: float
    limit: str


def local_bytes(threads: int, bytes_a_thread: int) -> int:
    """Return what a block of so many threads takes of local memory: what no register holds lies
    there, word by word for all lanes of a warp, also for those that the block has no thread for.
    """
    return -(-threads // WARP) * WARP * bytes_a_thread


def registers_of_block(threads: int, registers: int) -> int:
    """Return how many registers a device takes a block to need, with so many for each thread.

    It refuses the launch if they are more than `REGISTERS`. It counts the warps as if each of the
    partitions had as many.
    """
    warps = -(-threads // (WARP * PARTITIONS)) * PARTITIONS
    return warps * _of_a_warp(registers)


def most_threads(registers: int) -> int:
    """Return how many threads a block can have with so many registers for each."""
    warps = REGISTERS // PARTITIONS // _of_a_warp(registers) * PARTITIONS
    return min(BLOCK_THREADS, warps * WARP)


def _of_a_warp(registers: int) -> int:
    return -(-registers * WARP // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE


def occupancy(threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Return the occupancy for blocks of so many threads, registers a thread, shared bytes."""
    warps = max(1, -(-threads // WARP))
    bounds = {"the number of blocks": BLOCKS, "the number of threads": WARPS // warps}
    if registers:
        a_quarter = REGISTERS // PARTITIONS // _of_a_warp(registers)
        bounds["registers"] = a_quarter * PARTITIONS // warps
    if shared_bytes:
        a_block = -(-(shared_bytes + SHARED_BYTES_RESERVED) // SHARED_BYTES_AT_ONCE)
        bounds["shared memory"] = SHARED_BYTES // (a_block * SHARED_BYTES_AT_ONCE)
    limit = min(bounds, key=lambda name: bounds[name])
    return Occupancy(min(1.0, bounds[limit] * warps / WARPS), limit)
