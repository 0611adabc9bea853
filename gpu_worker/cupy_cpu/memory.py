"""Device memory: every array has an allocation of its own, in which kernels are watched.

An allocation knows its bounds and which of its bytes were ever written, so a kernel that reads out
of bounds or reads uninitialised memory is found. It is freed with its last view.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any, Final

import numpy as np

from .executor import Allocation, LaunchReport, Memory

DEVICE: Final = Memory()


class Held:
    """Keeps a block; NumPy arrays over it keep this, and free the block when the last is gone."""

    __slots__ = ("__array_interface__", "block")

    def __init__(self, nbytes: int, *, initialised: bool) -> None:
        self.block = DEVICE.allocate(nbytes, initialised=initialised)
        self.__array_interface__ = {
            "data": (self.block.address, False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self) -> None:
        DEVICE.free(self.block)


def new_block(shape: Any, dtype: np.dtype[Any], order: str, *, initialised: bool) -> Any:
    """Return a NumPy array over a block of its own."""
    extents = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    if any(extent < 0 for extent in extents):
        raise ValueError("negative dimensions are not allowed")
    count = math.prod(extents)
    if dtype.hasobject:
        raise ValueError(f"Unsupported dtype {dtype}")
    if count == 0:
        return np.empty(extents, dtype, order=order)  # type: ignore[call-overload]
    held = Held(count * dtype.itemsize, initialised=initialised)
    held.block.itemsize = dtype.itemsize
    return np.ndarray(extents, dtype, buffer=np.asarray(held), order="F" if order == "F" else "C")


def at_address(
    address: int, shape: Any, dtype: np.dtype[Any], strides: Any, owner: Any = None
) -> Any:
    """Return a NumPy array over memory that something else owns, for example a module.

    The owner is kept as long as the array.
    """
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    count = math.prod(extents)
    raw = (ctypes.c_ubyte * max(count * dtype.itemsize, 1)).from_address(address)
    raw.owner = owner
    return np.ndarray(extents, dtype, buffer=raw, strides=strides)


def place(values: Any) -> Any:
    """Return the values, which NumPy computed, in a block of their own; the layout is kept."""
    if values.size == 0:
        return values
    order = "C"
    if not values.flags.c_contiguous and values.flags.f_contiguous:
        order = "F"
    placed = new_block(values.shape, values.dtype, order, initialised=True)
    placed[...] = values
    return placed


def place_as_laid_out(values: Any) -> Any:
    """Return the values in a block of their own, with their strides and what lies between them."""
    owner = values if values.base is None else values.base
    if not values.size or not isinstance(owner, np.ndarray):
        return place(values)
    flat = owner.ravel(order="K")
    block = new_block(flat.shape, flat.dtype, "C", initialised=True)
    block[...] = flat
    start = owner.__array_interface__["data"][0]
    if any(step < 0 for step in owner.strides) or flat.nbytes != owner.nbytes:
        return place(values)
    offset = values.__array_interface__["data"][0] - start
    return np.ndarray(values.shape, values.dtype, block, offset, values.strides)


def block_of(values: Any) -> Allocation | None:
    """Return the block that an array lies in, None for an array of no elements."""
    return DEVICE.find(values.__array_interface__["data"][0]) if values.size else None


def unwritten(values: Any) -> tuple[int, int]:
    """Return how many elements of an array were never written, and the flat index of the first.

    What lies beside them in their block, such as the padding of rows, is not asked for.
    """
    block = block_of(values)
    if block is None or not block.unwritten()[0]:
        return 0, -1
    marks = block.written_map
    start = values.__array_interface__["data"][0] - block.address
    if values.itemsize % 2 or start % 2 or marks is None:
        return 0, -1
    halves = tuple(step // 2 for step in values.strides)
    shape = (*values.shape, values.itemsize // 2)
    places = np.ndarray(shape, np.uint8, marks, start // 2, (*halves, 1))
    missing = np.flatnonzero(~places.all(axis=-1))
    return (missing.size, int(missing[0])) if missing.size else (0, -1)


def written_by(values: Any) -> tuple[LaunchReport | None, int]:
    """Return the last launch that wrote to an array's block before all of it was written, and how
    many launches there were since it was made.
    """
    block = block_of(values)
    if block is None:
        return None, 0
    return block.writer, DEVICE.launches - block.launches_before


def mark_written(values: Any, places: Any = ...) -> None:
    """Note that an array was written to: all its elements, or those at an index, and no others."""
    block = block_of(values)
    if block is None or block.written_map is None:
        return
    low, high = np.lib.array_utils.byte_bounds(values)
    start = values.__array_interface__["data"][0] - block.address
    if places is ... and high - low == values.nbytes:
        block.mark_written(low - block.address, high - low)
    elif any(n % 2 for n in (start, values.itemsize, *values.strides)):
        # Elements of one byte share an entry of the map, which has one for every two bytes.
        touched = np.zeros(2 * block.written_map.size, np.uint8)
        np.ndarray(values.shape, f"V{values.itemsize}", touched, start, values.strides)[places] = (
            np.void(b"\1" * values.itemsize)
        )
        block.written_map[touched.reshape(-1, 2).any(axis=1)] = 1
    else:
        halves, width = tuple(step // 2 for step in values.strides), values.itemsize // 2
        marks = np.ndarray(values.shape, f"V{width}", block.written_map, start // 2, halves)
        marks[places] = np.void(b"\1" * width)
