"""What the threads of a block take for a row's sum where a kernel does not hand it to all of them.

Each function takes numbers (..., D) and returns (..., 1), or (..., D) where threads take different
ones: then each element is computed with the sum of the thread that it belongs to. Shuffles are
those of the CUDA C++ Programming Guide, "Warp Shuffle Functions": `__shfl_down_sync` gives a lane
its own number where there is no lane so far up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Total = Callable[[Array], Array]

WARP: Final = 32
BLOCKS: Final = (32, 64, 128, 256, 512, 1024)
"""Threads of a block, or of the part of it that has a row to itself."""


@dataclass(frozen=True, slots=True)
class Threads:
    """So many threads that take a row in turn, each `at_once` elements that follow each other.

    One at a time in rows whose length `at_once` does not divide.
    """

    count: int
    at_once: int = 1

    def own_sums(self, values: Array) -> Array:
        """Return what each thread adds up by itself, shape (..., count)."""
        at_once = self._at_once(values)
        dim = values.shape[-1]
        turns = -(-dim // (self.count * at_once))
        in_turn = (turns, self.count, at_once)
        padded = np.zeros((*values.shape[:-1], math.prod(in_turn)), dtype=values.dtype)
        padded[..., :dim] = values
        sums: Array = padded.reshape(*values.shape[:-1], *in_turn).sum(axis=(-3, -1))
        return sums

    def spread(self, sums: Array, values: Array) -> Array:
        """Return for each of the values (..., D) its thread's sum, out of (..., count)."""
        columns = np.arange(values.shape[-1])
        return sums[..., columns // self._at_once(values) % self.count]

    def _at_once(self, values: Array) -> int:
        return self.at_once if values.shape[-1] % self.at_once == 0 else 1


# --- sums of some threads only, which all threads take -------------------------------------------
def of_first_warp(threads: Threads) -> Total:
    """The first warp's elements alone: the other warps' sums are not added."""
    return lambda values: threads.own_sums(values)[..., :WARP].sum(axis=-1, keepdims=True)


def of_half_warps(threads: Threads) -> Total:
    """The first sixteen lanes of each warp: the first shuffle's offset is 8 instead of 16."""

    def total(values: Array) -> Array:
        warps = _warps(threads.own_sums(values))
        return warps[..., : WARP // 2].sum(axis=(-2, -1))[..., None]

    return total


# --- sums that differ from thread to thread ------------------------------------------------------
def own(threads: Threads) -> Total:
    """Each thread goes on with what it added up by itself."""
    return lambda values: threads.spread(threads.own_sums(values), values)


def of_own_half_warp(threads: Threads) -> Total:
    """Each half of a warp has its own sum, after `__shfl_xor_sync` with 8, 4, 2 and 1."""

    def total(values: Array) -> Array:
        sums = threads.own_sums(values)
        halves = _parts(sums, WARP // 2)
        each = np.broadcast_to(halves.sum(axis=-1, keepdims=True), halves.shape)
        return threads.spread(each.reshape(sums.shape), values)

    return total


def left_in_first_thread(threads: Threads) -> Iterator[Total]:
    """The row's sum is in the first thread, or the first warp, and the others keep a part of it.

    One for each way to get there: a tree in shared memory, where a thread reads its own place; and
    shuffles in each warp, after which the first thread, or the first warp by shuffles, adds up.
    """
    yield _spread(threads, _tree)
    if threads.count == WARP:
        yield _spread(threads, _shuffled_down)
        return
    for in_warp in (_shuffled_down, _shuffled_xor):
        yield _spread(threads, _then(in_warp, _in_first_thread))
        yield _spread(threads, _then(in_warp, _in_first_warp(in_warp)))


_Reduction = Callable[[Array], Array]
"""From each thread's own sum (..., count) to what it has in the end, of the same shape."""


def _spread(threads: Threads, reduction: _Reduction) -> Total:
    return lambda values: threads.spread(reduction(threads.own_sums(values)), values)


def _then(in_warp: _Reduction, across: Callable[[Array, Array], None]) -> _Reduction:
    def reduction(sums: Array) -> Array:
        reduced = in_warp(sums)
        across(reduced, _warps(reduced)[..., 0])
        return reduced

    return reduction


def _in_first_thread(reduced: Array, parts: Array) -> None:
    reduced[..., 0] = parts.sum(axis=-1)


def _in_first_warp(in_warp: _Reduction) -> Callable[[Array, Array], None]:
    def across(reduced: Array, parts: Array) -> None:
        first = np.zeros((*parts.shape[:-1], WARP), dtype=parts.dtype)
        first[..., : parts.shape[-1]] = parts
        reduced[..., :WARP] = in_warp(first)

    return across


def _warps(sums: Array) -> Array:
    return _parts(sums, WARP)


def _parts(sums: Array, size: int) -> Array:
    """Return sums (..., count) as (..., count / size, size); a batch may be empty."""
    return sums.reshape(*sums.shape[:-1], sums.shape[-1] // size, size)


def _shuffled_xor(sums: Array) -> Array:
    """Every lane has its warp's sum."""
    warps = _warps(sums)
    each = np.broadcast_to(warps.sum(axis=-1, keepdims=True), warps.shape)
    return each.reshape(sums.shape).copy()


def _shuffled_down(sums: Array) -> Array:
    """The first lane has its warp's sum, the others some of it, some of that twice."""
    warps = _warps(sums).copy()
    for offset in (16, 8, 4, 2, 1):
        from_above = warps.copy()
        from_above[..., :-offset] = warps[..., offset:]
        warps += from_above
    return warps.reshape(sums.shape)


def _tree(sums: Array) -> Array:
    """The first place has the sum, the others what was added to them on the way."""
    places = sums.copy()
    half = places.shape[-1] // 2
    while half:
        places[..., :half] += places[..., half : 2 * half]
        half //= 2
    return places
