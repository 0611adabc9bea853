"""Launches of kernels that go over rows of length D: which kernel, and in which shape.

The kernels of a fused reference have the same names and parameters in every exercise on rows; what
differs is how many numbers its threads can keep, and how many parameters it has. Nothing here needs
a device.

Rows are taken by packs of 16 bytes where D, the rows' distance and the addresses are multiples of
that, and by single elements elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
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
BACKWARD_WARP: Final = (1, 2, 4)
"""Packs per thread of the backward kernels; float64 goes to a block per row sooner."""

Table = tuple[tuple[int, int], ...]
"""(threads, packs per thread) of kernels with a block per row, for shorter rows first."""
FORWARD_BLOCK: Final = ((128, 4), (256, 4), (512, 4), (1024, 4), (1024, 8))
FORWARD_BLOCK_SINGLE: Final = ((128, 8), (512, 8), (1024, 8))
"""For rows that are taken by single elements."""
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


def sum_bytes(dtype: str) -> int:
    """Return the size of the type that sums are kept in."""
    return 8 if dtype == "float64" else 4


@dataclass(frozen=True, slots=True)
class RowLaunches:
    """The launches of one exercise.

    `forward_block` and `backward_block` give the table for a dtype and a size of packs: one of
    those above, without its last entry where a thread cannot keep that many numbers and the
    compiler would put some of them into device memory. `parameters` counts what is of length D and
    has a gradient; `kept` the numbers that forward keeps of each row for backward.
    """

    forward_block: Callable[[str, int], Table]
    backward_block: Callable[[str, int], Table]
    parameters: int
    kept: int

    def forward(self, dtype: str, rows: int, dim: int, pack: int) -> Plan:
        """Return the launch of the forward pass over `rows` > 0 rows of length `dim`."""
        kind = f"{C_TYPES[dtype]}, {pack}"
        packs = dim // pack
        for each in FORWARD_WARP:
            if packs <= WARP * each:
                grid = min(-(-rows // ROWS_PER_BLOCK), MOST_BLOCKS)
                return Plan(f"forward_warp<{kind}, {each}>", (grid,), (WARP, ROWS_PER_BLOCK))
        for threads, each in self.forward_block(dtype, pack):
            if packs <= threads * each:
                name = f"forward_block<{kind}, {threads}, {each}>"
                return Plan(name, (min(rows, MOST_BLOCKS),), (threads,))
        return _long("forward", kind, rows)

    def backward(self, dtype: str, rows: int, dim: int, pack: int) -> Plan:
        """Return the launch of the backward pass; it makes grid[0] parts of each gradient.

        `backward_long` makes none: `columns` does.
        """
        kind = f"{C_TYPES[dtype]}, {pack}"
        packs = dim // pack
        for each in _backward_warp(dtype):
            if packs <= WARP * each:
                grid = min(-(-rows // ROWS_PER_BLOCK), PERSISTENT_BLOCKS)
                name = f"backward_warp<{kind}, {each}>"
                return Plan(name, (grid,), (WARP, ROWS_PER_BLOCK), dim * sum_bytes(dtype))
        for threads, each in self.backward_block(dtype, pack):
            if packs <= threads * each:
                name = f"backward_block<{kind}, {threads}, {each}>"
                return Plan(name, (min(rows, PERSISTENT_BLOCKS),), (threads,))
        return _long("backward", kind, rows)

    def columns(self, dtype: str, rows: int, dim: int) -> Plan:
        """Return the launch that makes the parts for long rows: grid[1] of each gradient."""
        bands = min(-(-rows // COLUMN_BLOCK[1]), COLUMN_BANDS)
        grid = (-(-dim // COLUMN_BLOCK[0]), bands)
        return Plan(f"columns<{C_TYPES[dtype]}>", grid, COLUMN_BLOCK)

    def add_parts(self, dtype: str, dim: int) -> Plan:
        """Return the launch that adds the parts of all gradients."""
        grid = (-(-dim // ADDING_THREADS), self.parameters)
        return Plan(f"add_parts<{C_TYPES[dtype]}>", grid, (ADDING_THREADS,))

    def instances(self, dtype: str) -> tuple[str, ...]:
        """Return the name expressions of all kernels that a dtype can come to need."""
        own = C_TYPES[dtype]
        names = [f"columns<{own}>", f"add_parts<{own}>"]
        for pack in (PACK_BYTES // ITEM_BYTES[dtype], 1):
            kind = f"{own}, {pack}"
            names += [f"forward_warp<{kind}, {each}>" for each in FORWARD_WARP]
            names += _of_blocks("forward", kind, self.forward_block(dtype, pack))
            names += [f"backward_warp<{kind}, {each}>" for each in _backward_warp(dtype)]
            names += _of_blocks("backward", kind, self.backward_block(dtype, pack))
            names += [f"{way}_long<{kind}, {LONG_THREADS}>" for way in ("forward", "backward")]
        return tuple(names)

    def together(self, dtype: str, kernel: str) -> tuple[str, ...]:
        """Return the instances that are best compiled with one of them, so that a program builds
        few modules, none that it does not need, and none that takes a compiler long: all for short
        rows in equal packs, or for longer ones one way.
        """
        return tuple(name for name in self.instances(dtype) if _module(name) == _module(kernel))

    def next_to(self, dtype: str, kernel: str) -> tuple[str, ...]:
        """Return the instances that are needed after one of the forward pass: those of the backward
        pass over such rows.
        """
        return self.together(dtype, kernel.replace("forward", "backward"))

    def for_short_rows(self, dtype: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the instances that any program needs, as two modules."""
        in_packs = self.forward(dtype, 1, 1, PACK_BYTES // ITEM_BYTES[dtype])
        return (
            self.together(dtype, in_packs.kernel),
            self.together(dtype, self.add_parts(dtype, 1).kernel),
        )

    def least_bytes(self, dtype: str, rows: int, dim: int) -> dict[str, int]:
        """Return the bytes that must be moved at least: `forward`, `backward`.

        With s bytes per element, w per sum, P parameters, K numbers kept of each row, and G blocks
        of the backward kernel, at most `PERSISTENT_BLOCKS`:

            forward    2*N*D*s + P*D*s + K*w*N      read x, write y; parameters once; what is kept
            backward   3*N*D*s + D*s + K*w*N        read x and dout, write dx; gamma; what is kept
                       + 2*P*w*G*D + P*D*s          parts of gradients, written and read; the sums
        """
        item, sums = ITEM_BYTES[dtype], sum_bytes(dtype)
        array, vector, kept = rows * dim * item, dim * item, self.kept * sums * rows
        plan = self.backward(dtype, max(rows, 1), dim, pack_size(dtype, dim, (dim,), (1,), 0))
        is_long = "long" in plan.kernel
        parts = self.columns(dtype, max(rows, 1), dim).grid[1] if is_long else plan.grid[0]
        gradients = self.parameters * (2 * sums * parts * dim + vector)
        return {
            "forward": 2 * array + self.parameters * vector + kept,
            "backward": 3 * array + vector + kept + gradients,
        }


def _long(way: str, kind: str, rows: int) -> Plan:
    """Return the launch over rows too long for registers."""
    name = f"{way}_long<{kind}, {LONG_THREADS}>"
    return Plan(name, (min(rows, MOST_BLOCKS),), (LONG_THREADS,))


def _of_blocks(way: str, kind: str, table: Table) -> list[str]:
    return [f"{way}_block<{kind}, {threads}, {each}>" for threads, each in table]


def _backward_warp(dtype: str) -> tuple[int, ...]:
    return BACKWARD_WARP[:-1] if dtype == "float64" else BACKWARD_WARP


def _module(kernel: str) -> tuple[str, str]:
    """Return the way of an instance, empty for short rows, and the size of its packs. What knows no
    packs is with short rows of single elements.
    """
    way, _, rest = kernel.partition("<")
    pack = rest.split(", ")[1] if ", " in rest else "1"
    return way.partition("_")[0] if way.endswith(("_block", "_long")) else "", pack
