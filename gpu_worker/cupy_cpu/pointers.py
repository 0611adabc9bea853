"""What `array.data` and `module.get_global()` return: an address to copy from and to."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import memory, traffic
from .missing import missing

_BYTE: Final = np.dtype(np.uint8)


class Address:
    """CuPy's MemoryPointer: an address in device memory. It keeps what it points into."""

    __slots__ = ("device_id", "end", "kept", "ptr")

    def __init__(self, address: int, kept: Any = None, end: int | None = None) -> None:
        """`end` is where the memory ends, in no block of an array; `kept` is not freed before."""
        self.ptr = address
        self.device_id = 0
        self.kept = kept
        self.end = end

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, nbytes: int) -> Address:
        return Address(self.ptr + nbytes, self.kept, self.end)

    __radd__ = __add__

    def __sub__(self, nbytes: int) -> Address:
        return self + -nbytes

    def copy_from_device(self, src: Address, size: int) -> None:
        """Copy `size` bytes from another place of the device; the two may overlap.

        Raises:
            RuntimeError: there are not so many bytes at one of the places.
        """
        source, target = _bytes_at(src, size), _bytes_at(self, size)
        if not size:
            return
        target[...] = source
        memory.mark_written(target)
        traffic.count([source], [target])

    def copy_from_device_async(self, src: Address, size: int, stream: Any = None) -> None:
        """Do the same; nothing runs beside the program here, so the stream changes nothing."""
        self.copy_from_device(src, size)

    copy_from = copy_from_device
    copy_from_async = copy_from_device_async

    def memset(self, value: int, size: int) -> None:
        """Set each of `size` bytes to the value.

        Raises:
            RuntimeError: there are not so many bytes.
        """
        target = _bytes_at(self, size)
        if not size:
            return
        target[...] = value & 0xFF
        memory.mark_written(target)
        traffic.count([], [target])

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """Do the same; the stream changes nothing."""
        self.memset(value, size)

    def __getattr__(self, name: str) -> Any:
        raise missing("cuda.MemoryPointer", name, dir(Address))


def array_at(place: Any, shape: Any, dtype: np.dtype[Any], strides: Any) -> Any:
    """Return a NumPy array over the device's memory from an address on. To no program, as below.

    Raises:
        TypeError: it is no address that the device gave.
        ValueError: the array would not lie in one array's or variable's memory.
    """
    if not isinstance(place, Address):
        raise TypeError(
            f"Argument 'memptr' has incorrect type (expected MemoryPointer, got {type(place)})"
        )
    made = memory.at_address(place.ptr, shape, dtype, strides, place.kept)
    low, high = np.lib.array_utils.byte_bounds(made)
    if made.size and not place.ptr <= low <= high <= place.ptr + _left(place):
        raise ValueError(
            f"An array of shape {made.shape} and dtype {dtype} takes {high - low} bytes, where "
            f"{_left(place)} are left."
        )
    return made


def _bytes_at(place: Address, size: int) -> Any:
    """Return the bytes (size,) uint8 from an address on. To no program: it would not be counted.

    Raises:
        RuntimeError: there are not so many.
    """
    left = _left(place)
    if not 0 <= size <= left:
        raise RuntimeError(
            f"cudaErrorInvalidValue: invalid argument: {size} bytes are asked for, where "
            f"{left} are left"
        )
    return memory.at_address(place.ptr, size, _BYTE, None)


def _left(place: Address) -> int:
    """Return how many bytes of the device's memory there are from an address on."""
    block = None if place.end else memory.DEVICE.find(place.ptr)
    return max((place.end or (block.end if block else place.ptr)) - place.ptr, 0)
