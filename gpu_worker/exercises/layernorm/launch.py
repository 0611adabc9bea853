"""Which kernel of `kernels.cu` takes which rows, and in which shape it is launched.

The least that must be moved, with s bytes per element and w (4, for float64 8) per sum:

    forward    2*N*D*s + 2*D*s + 2*w*N        read x, write y; gamma, beta once; mean and rstd
    backward   3*N*D*s + D*s + 2*w*N          read x and dout, write dx; gamma once; mean and rstd
               + 4*w*G*D + 2*D*s              parts of dgamma and dbeta, written and read; both

G is the number of blocks of the backward kernel, at most `PERSISTENT_BLOCKS`. For N much above G
that is 2*N*D*s and 3*N*D*s, what a copy of the arrays moves. Where the rows are too long for
registers the forward kernel reads x three times and the backward kernels read x and dout three
times; after the first time the caches may have them.

Rows are taken by packs of 16 bytes where D, the rows' distance and the addresses are multiples of
that, and by single elements elsewhere. Nothing here needs a device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

C_TYPES: Final = {
    "float32": "float",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float64": "double",
}
ITEM_BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8}
PACK_BYTES: Final = 16
WARP: Final = 32
ROWS_PER_BLOCK: Final = 4
"""Warps of a block, where each warp has a row of its own."""
LONG_THREADS: Final = 512
COLUMN_BLOCK: Final = (32, 8)
ADDING_THREADS: Final = 256
PERSISTENT_BLOCKS: Final = 264
"""Two blocks for each of the 132 multiprocessors of an H100 or H200. A constant, so that dgamma is
added in one order on every device."""
COLUMN_BANDS: Final = 32
MOST_BLOCKS: Final = 2**31 - 1

FORWARD_WARP: Final = (1, 2, 4, 8)
"""Packs per thread of the kernels with a warp per row."""
FORWARD_BLOCK: Final = ((128, 4), (256, 4), (512, 4), (1024, 4), (1024, 8))
"""(threads, packs per thread) of those with a block per row."""
FORWARD_BLOCK_SINGLE: Final = ((128, 8), (512, 8), (1024, 8))
"""The same for rows that are taken by single elements."""
BACKWARD_WARP: Final = (1, 2, 4)
"""Packs per thread of the backward kernels; float64 goes to a block per row sooner."""
BACKWARD_BLOCK: Final = ((128, 2), (128, 4), (256, 4), (512, 4))
BACKWARD_BLOCK_SINGLE: Final = ((128, 8), (512, 8))


@dataclass(frozen=True, slots=True)
class Plan:
    """One launch: the kernel's name expression, grid, block, bytes of dynamic shared memory."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int = 0


def pack_size(
    dtype: str, dim: int, row_steps: tuple[int, ...], column_steps: tuple[int, ...], address: int
) -> int:
    """Return how many elements go at once: 16 bytes' worth, or 1 where not all fits.

    `row_steps` and `column_steps` are distances in elements of all arrays that are read;
    `address` is all their addresses, combined by `|`.
    """
    pack = PACK_BYTES // ITEM_BYTES[dtype]
    whole = dim % pack == 0 and all(step % pack == 0 for step in row_steps)
    if whole and address % PACK_BYTES == 0 and all(step == 1 for step in column_steps):
        return pack
    return 1


def forward(dtype: str, rows: int, dim: int, pack: int) -> Plan:
    """Return the launch of the forward pass over `rows` > 0 rows of length `dim`."""
    kind = f"{C_TYPES[dtype]}, {pack}"
    packs = dim // pack
    for each in FORWARD_WARP:
        if packs <= WARP * each:
            grid = min(-(-rows // ROWS_PER_BLOCK), MOST_BLOCKS)
            return Plan(f"forward_warp<{kind}, {each}>", (grid,), (WARP, ROWS_PER_BLOCK))
    for threads, each in _forward_block(dtype, pack):
        if packs <= threads * each:
            name = f"forward_block<{kind}, {threads}, {each}>"
            return Plan(name, (min(rows, MOST_BLOCKS),), (threads,))
    name = f"forward_long<{kind}, {LONG_THREADS}>"
    return Plan(name, (min(rows, MOST_BLOCKS),), (LONG_THREADS,))


def backward(dtype: str, rows: int, dim: int, pack: int) -> Plan:
    """Return the launch of the backward pass; `parts` then has (2, grid[0], dim) sums.

    Of `backward_long` it has none: `columns` makes them.
    """
    kind = f"{C_TYPES[dtype]}, {pack}"
    packs = dim // pack
    for each in _backward_warp(dtype):
        if packs <= WARP * each:
            grid = min(-(-rows // ROWS_PER_BLOCK), PERSISTENT_BLOCKS)
            shared = dim * sum_bytes(dtype)
            return Plan(f"backward_warp<{kind}, {each}>", (grid,), (WARP, ROWS_PER_BLOCK), shared)
    for threads, each in _backward_block(dtype, pack):
        if packs <= threads * each:
            name = f"backward_block<{kind}, {threads}, {each}>"
            return Plan(name, (min(rows, PERSISTENT_BLOCKS),), (threads,))
    name = f"backward_long<{kind}, {LONG_THREADS}>"
    return Plan(name, (min(rows, MOST_BLOCKS),), (LONG_THREADS,))


def columns(dtype: str, rows: int, dim: int) -> Plan:
    """Return the launch that makes the parts for long rows: (2, grid[1], dim) sums."""
    bands = min(-(-rows // COLUMN_BLOCK[1]), COLUMN_BANDS)
    grid = (-(-dim // COLUMN_BLOCK[0]), bands)
    return Plan(f"columns<{C_TYPES[dtype]}>", grid, COLUMN_BLOCK)


def add_parts(dtype: str, dim: int) -> Plan:
    """Return the launch that adds the parts to dgamma and dbeta."""
    grid = (-(-dim // ADDING_THREADS), 2)
    return Plan(f"add_parts<{C_TYPES[dtype]}>", grid, (ADDING_THREADS,))


def sum_bytes(dtype: str) -> int:
    """Return the size of the type that sums are kept in."""
    return 8 if dtype == "float64" else 4


def instances(dtype: str) -> tuple[str, ...]:
    """Return the name expressions of all kernels that a dtype can come to need."""
    own = C_TYPES[dtype]
    names = [f"columns<{own}>", f"add_parts<{own}>"]
    for pack in (PACK_BYTES // ITEM_BYTES[dtype], 1):
        kind = f"{own}, {pack}"
        names += [f"forward_warp<{kind}, {each}>" for each in FORWARD_WARP]
        names += [
            f"forward_block<{kind}, {threads}, {each}>"
            for threads, each in _forward_block(dtype, pack)
        ]
        names += [f"backward_warp<{kind}, {each}>" for each in _backward_warp(dtype)]
        names += [
            f"backward_block<{kind}, {threads}, {each}>"
            for threads, each in _backward_block(dtype, pack)
        ]
        names += [f"{way}_long<{kind}, {LONG_THREADS}>" for way in ("forward", "backward")]
    return tuple(names)


def together(dtype: str, kernel: str) -> tuple[str, ...]:
    """Return the instances that are best compiled with one of them, so that a program builds few
    modules, and none that it does not need: all for short rows, or for longer ones in equal packs.
    """
    return tuple(name for name in instances(dtype) if _rows(name) == _rows(kernel))


def _rows(kernel: str) -> str:
    """Return for which rows an instance is: short ones, or the size of the packs of longer ones."""
    way, _, rest = kernel.partition("<")
    return rest.split(", ")[1] if way.endswith(("_block", "_long")) else "short"


# The last entry of a table is left out for dtypes of which a thread cannot keep that many numbers:
# the compiler would put some of them into device memory.
def _forward_block(dtype: str, pack: int) -> tuple[tuple[int, int], ...]:
    if pack == 1:
        return FORWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else FORWARD_BLOCK_SINGLE
    return FORWARD_BLOCK if dtype == "float32" else FORWARD_BLOCK[:-1]


def _backward_warp(dtype: str) -> tuple[int, ...]:
    return BACKWARD_WARP[:-1] if dtype == "float64" else BACKWARD_WARP


def _backward_block(dtype: str, pack: int) -> tuple[tuple[int, int], ...]:
    if pack == 1:
        return BACKWARD_BLOCK_SINGLE[:-1] if dtype == "float64" else BACKWARD_BLOCK_SINGLE
    return BACKWARD_BLOCK[:-1] if ITEM_BYTES[dtype] == 2 else BACKWARD_BLOCK


def least_bytes(dtype: str, rows: int, dim: int) -> dict[str, int]:
    """Return the bytes that must be moved at least, as the module says: `forward`, `backward`."""
    item, sums = ITEM_BYTES[dtype], sum_bytes(dtype)
    plan = backward(dtype, max(rows, 1), dim, pack_size(dtype, dim, (dim,), (1,), 0))
    parts = columns(dtype, max(rows, 1), dim).grid[1] if "long" in plan.kernel else plan.grid[0]
    kept = 2 * sums * rows
    return {
        "forward": 2 * rows * dim * item + 2 * dim * item + kept,
        "backward": 3 * rows * dim * item
        + dim * item
        + kept
        + 4 * sums * parts * dim
        + 2 * dim * item,
    }
