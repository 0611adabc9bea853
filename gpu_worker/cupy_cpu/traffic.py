"""Counts what a GPU would move: each operation reads its inputs and writes its output.

CuPy runs one kernel for each array operation, and every kernel's inputs and outputs go through the
device's memory. An operation here counts that: the bytes of its distinct inputs, those of its
output, one launch. Views move nothing. Operations that `cupy.fuse` makes one kernel are recorded
instead, and counted as a whole by `fusion`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Counts:
    """Global memory traffic in bytes, and kernel launches."""

    bytes_read: int = 0
    bytes_written: int = 0
    launches: int = 0

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation's arrays. They are kept, so that no later array has the same memory."""

    inputs: tuple[NDArray[Any], ...]
    outputs: tuple[NDArray[Any], ...]


@dataclass(slots=True)
class Recording:
    """The operations of a block in order, and where what NumPy computed was put on the device."""

    operations: list[Operation] = field(default_factory=list)
    placed: list[tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=list)
    given: list[NDArray[Any]] = field(default_factory=list)
    """The arrays that the block may read."""

    def knows(self, array: NDArray[Any]) -> bool:
        """True if an array was given, or is a view of one that was or of a result."""
        known = (*self.given, *(home for _, home in self.placed))
        return not array.size or any(np.may_share_memory(array, other) for other in known)


SECTOR: Final = 32
"""Bytes: the least that is moved of a device's memory."""
_NOT_FUSIBLE: Final = (
    "CuPy makes one kernel of a function of cupy.fuse only if all in it works element by element "
    "(arithmetic, cupy.sqrt and its like, where, clip, round, astype) or is sum, prod, max, min, "
    "all or any, without keepdims. For a mean divide the sum by a number that the function is "
    "given; in place of keepdims=True write cupy.sum(x, axis=-1)[..., None]. Anything else goes "
    "outside of the function, or into a kernel: slices, shapes, other orders of axes, cumsum, "
    "sort, products of matrices, new arrays, values for the host."
)
totals = Counts()
_paused = 0
_recording: Recording | None = None


def distinct_bytes(array: NDArray[Any]) -> int:
    """Return how many bytes of memory an array covers: a broadcast axis is read once."""
    extents = [n for n, step in zip(array.shape, array.strides, strict=True) if step or not n]
    return math.prod(extents) * array.itemsize


def count(
    inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]], *, fusible: bool = False
) -> None:
    """Count one kernel; the same memory given twice is read once.

    Raises:
        NotImplementedError: it is none that `cupy.fuse` makes part of another, and is to be.
        TypeError: it is to be, and reads an array that the fused function was not given.
    """
    if _paused:
        return
    if not fusible:
        check_fusible()
    if _recording is not None and not all(map(_recording.knows, inputs)):
        raise TypeError(
            "Concrete ndarray is not supported in fusion: give each array to the function of "
            "cupy.fuse as an argument."
        )
    if not any(array.size for array in outputs):
        return
    if _recording is not None:
        _recording.operations.append(Operation(tuple(inputs), tuple(outputs)))
        return
    seen = {(a.__array_interface__["data"][0], a.shape, a.strides): a for a in inputs}
    totals.bytes_read += sum(distinct_bytes(array) for array in seen.values())
    totals.bytes_written += sum(array.nbytes for array in outputs)
    totals.launches += 1


def count_kernel(bytes_read: int, bytes_written: int) -> None:
    """Count one launch of a kernel that was watched."""
    check_fusible()
    totals.bytes_read += bytes_read
    totals.bytes_written += bytes_written
    totals.launches += 1


def count_transfer(nbytes: int) -> None:
    """Count a copy between host and device: read at one end, written at the other. No kernel runs,
    but on a device it is slower than one. Of a single number a whole sector is moved.
    """
    check_fusible()
    if nbytes and not _paused:
        moved = max(nbytes, SECTOR)
        totals.bytes_read += moved
        totals.bytes_written += moved


def take() -> Counts:
    """Return the totals since the last time, and begin anew."""
    taken = Counts(totals.bytes_read, totals.bytes_written, totals.launches)
    totals.bytes_read = totals.bytes_written = totals.launches = 0
    return taken


def is_recording() -> bool:
    """True while operations are recorded."""
    return _recording is not None


def check_fusible() -> None:
    """Refuse what is no part of a fused function.

    Raises:
        NotImplementedError: operations are recorded. CuPy raises this or its like.
    """
    if _recording is not None:
        raise NotImplementedError(_NOT_FUSIBLE)


@contextmanager
def paused() -> Iterator[None]:
    """Count nothing: the caller counts the whole, or nothing moves on a device."""
    global _paused
    _paused += 1
    try:
        yield
    finally:
        _paused -= 1


@contextmanager
def recorded(given: Sequence[NDArray[Any]]) -> Iterator[Recording]:
    """Count no operation but give them to the caller, also those of a block within a block.

    The block may read the arrays that it is given, and what it makes of them.
    """
    global _recording
    outer, _recording = _recording, Recording(given=list(given))
    recording = _recording
    try:
        yield recording
    finally:
        _recording = outer
        if outer is not None:
            outer.operations.extend(recording.operations)
            outer.placed.extend(recording.placed)


def placed(computed: NDArray[Any], home: NDArray[Any]) -> None:
    """Take note that what an operation computed lies in the array `home` from now on."""
    if _recording is not None:
        _recording.placed.append((computed, home))
