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
Length = Callable[[int], int]
"""What stands for D, the length of a row."""

WARP: Final = 32
BLOCKS: Final = (32, 64, 128, 256, 512, 1024)
"""Threads of a block, or of the part of it that has a row to itself."""


@dataclass(frozen=True, slots=True)
class Threads:
    """So many threads that take a row in turn, each `at_once` elements that follow each other.

    One at a time in rows whose length `at_once` does not divide; 0 for a row that is cut into as
    many pieces as there are threads.
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
        dim = values.shape[-1]
        if not self.at_once:
            return max(1, -(-dim // self.count))
        return self.at_once if dim % self.at_once == 0 else 1


# --- one sum for all threads, and not the row's --------------------------------------------------
def times(factor: float) -> Total:
    """A multiple of the sum: parts are added up more than once."""
    return lambda values: factor * values.sum(axis=-1, keepdims=True)


def of_first_elements(count: int) -> Total:
    """So many elements at the beginning of the row: one for each thread, without a loop."""
    return lambda values: values[..., :count].sum(axis=-1, keepdims=True)


def for_mean_over(length: Length) -> Total:
    """What gives sum / length(D) once it is divided by D."""

    def total(values: Array) -> Array:
        dim = values.shape[-1]
        return values.sum(axis=-1, keepdims=True) * (dim / length(dim))

    return total


def of_warps(threads: Threads, warps: slice) -> Total:
    """The elements of some warps alone: the other warps' sums are not added, or overwritten."""

    def total(values: Array) -> Array:
        parts = _warps(threads.own_sums(values)).sum(axis=-1)
        return parts[..., warps].sum(axis=-1, keepdims=True)

    return total


def without_step(threads: Threads, offset: int) -> Total:
    """Half of the threads: a tree, or shuffles, leave out the step of `offset`."""
    taken = [thread for thread in range(threads.count) if not thread & offset]
    return lambda values: threads.own_sums(values)[..., taken].sum(axis=-1, keepdims=True)


# --- sums that differ from thread to thread ------------------------------------------------------
def own(threads: Threads) -> Total:
    """Each thread goes on with what it added up by itself."""
    return lambda values: threads.spread(threads.own_sums(values), values)


def shuffled_without(threads: Threads, offset: int) -> Total:
    """Each lane has the sum of half its warp: `__shfl_xor_sync` without the step of `offset`."""

    def reduction(sums: Array) -> Array:
        warps = _warps(sums)
        lanes = np.arange(WARP)
        zero = warps[..., lanes & offset == 0].sum(axis=-1)
        one = warps[..., lanes & offset != 0].sum(axis=-1)
        each = np.where(lanes & offset, one[..., None], zero[..., None])
        return each.reshape(sums.shape)

    return _spread(threads, reduction)


def held_by_first_thread(threads: Threads, others: float) -> Total:
    """The first thread has the sum; a variable that it alone sets is `others` in the rest."""

    def reduction(sums: Array) -> Array:
        held = np.full_like(sums, others)
        held[..., 0] = sums.sum(axis=-1)
        return held

    return _spread(threads, reduction)


def left_in_one_thread(threads: Threads) -> Iterator[Total]:
    """The row's sum is in one thread, or the first warp, and the others keep a part of it.

    One for each way to get there: a tree in shared memory, where a thread reads its own place;
    sums of all lanes before; and shuffles in each warp, after which the first thread, or the first
    warp by shuffles, adds up.
    """
    yield _spread(threads, _tree)
    if threads.count == WARP:
        yield _spread(threads, _shuffled_down)
        yield _spread(threads, _scanned)
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
    """Return sums (..., count) as (..., count / 32, 32); a batch may be empty."""
    return sums.reshape(*sums.shape[:-1], sums.shape[-1] // WARP, WARP)


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


def _scanned(sums: Array) -> Array:
    """Each lane has the sum of the lanes up to itself, the last one all."""
    scanned: Array = np.cumsum(sums, axis=-1)
    return scanned


def _tree(sums: Array) -> Array:
    """The first place has the sum, the others what was added to them on the way."""
    places = sums.copy()
    half = places.shape[-1] // 2
    while half:
        places[..., :half] += places[..., half : 2 * half]
        half //= 2
    return places
