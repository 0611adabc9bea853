"""The mistakes that kernels make in the sum over a row, for every class that has one.

They are looked for on the CuPy track only; `thread_sums` says what each comes to. What is in a sum
can be told from the results, and not how that came about: so a text says the first as a fact, and
of the second what it may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gpu_worker.exercises import thread_sums
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.thread_sums import BLOCKS, WARP, Length, Threads, Total

Make = Callable[[Total], type]
"""Makes the reference with each sum over a row replaced."""
_Sum = tuple[str, str, Total]
"""A mistake's id, what the report says, and what threads take for the sum."""

_PIECE: Final = 0
_AT_ONCE: Final = (1, 2, 4)
"""Elements that a thread takes at once: one, a float2, a float4."""
_HALVED_AT: Final = (1, *(count // 2 for count in BLOCKS))
"""Steps of a reduction that are easily left out: the last one, and the first one of each size."""
_FACTORS: Final = (2, 4, 8, 16, 32)
_WHOLE_SUM: Final = (
    "Hand the whole sum to every thread: through one place in shared memory, with __syncthreads() "
    "before it is read, or within a warp by __shfl_xor_sync or __shfl_sync(mask, sum, 0)."
)
_OWN: Final = (
    "Each element is normalised with the sum of its own thread's elements: as if the threads' sums "
    f"were not added. {_WHOLE_SUM}"
)
_IN_ONE: Final = (
    "The elements of one thread, or of one warp, come out with the whole sum, and the others with "
    f"a part of it, which their threads have. {_WHOLE_SUM}"
)
_ONE_ALONE: Final = (
    "The elements of the first thread come out right, and the others as if the sum were 0: what "
    f"one thread puts into a variable of its own is in that thread only. {_WHOLE_SUM}"
)
_OTHERS_ZERO: Final = (
    "The elements of the first thread come out right, and all others are 0: what one thread alone "
    "computes, reads or writes inside an `if` is needed by all. A variable that it sets is its "
    "own: pass it through shared memory, with __syncthreads() before it is read."
)


def kernel_mistakes(make: Make, formula: str, which: str = "") -> Bank:
    """Return the mistakes of a class; `make` gives its variants, `formula` is the chapter's.

    `which` is the sum that is wrong, where a class has several and only one of them is.
    """
    where = f"In the sum for {which}: " if which else ""
    return _bank(make, formula, ((id, where + text, total) for id, text, total in _sums()))


def others_are_zero(make: Make, formula: str) -> Bank:
    """Return that all elements but those of the first thread come out as 0.

    For classes that give 0 where the sum is infinite; NaN would explain whatever is wrong.
    """
    held = (thread_sums.held_by_first_thread(threads, math.inf) for threads in _every_way())
    return _bank(make, formula, (("one-thread-only", _OTHERS_ZERO, total) for total in held))


def _bank(make: Make, formula: str, sums: Iterable[_Sum]) -> Bank:
    bank = Bank()
    for id, explanation, total in sums:
        cls = make(total)
        bank.variant(id, explanation, formula=formula, test="forward")(cls)
    return bank


def _every_way() -> Iterator[Threads]:
    for at_once in (*_AT_ONCE, _PIECE):
        for count in BLOCKS:
            yield Threads(count, at_once)


def _sums() -> Iterator[_Sum]:
    yield from _multiplied()
    for count in BLOCKS:
        yield (
            "first-elements-only",
            f"Only the first {count} elements of a row are in the sum: the loop over the row ends "
            "too early, or there is none. Each thread takes every so many elements to the end: "
            "for (int j = threadIdx.x; j < D; j += blockDim.x).",
            thread_sums.of_first_elements(count),
        )
    for threads in _every_way():
        yield "own-sum-only", _OWN, thread_sums.own(threads)
        for total in thread_sums.left_in_one_thread(threads):
            yield "sum-in-one-thread", _IN_ONE, total
        yield "sum-in-one-thread", _ONE_ALONE, thread_sums.held_by_first_thread(threads, 0.0)
    for at_once in _AT_ONCE:
        yield from _parts(at_once)


def _multiplied() -> Iterator[_Sum]:
    """Yield the whole sum times something, or divided by something else than D."""
    for count in BLOCKS:
        yield (
            "divided-by-constant",
            f"The sum is divided by {count} in rows of every length: by a number of threads, or by "
            "a length that stands in the code. A mean divides by D, the length of the row.",
            thread_sums.for_mean_over(_always(count)),
        )
        yield (
            "divided-by-rounded",
            f"The sum is divided by D rounded up to a multiple of {count}. A mean divides by D "
            "itself, the length of the row.",
            thread_sums.for_mean_over(multiple_of(count)),
        )
    for most in (2**31, BLOCKS[-1]):
        yield (
            "divided-by-rounded",
            "The sum is divided by D rounded up to a power of two. A mean divides by D itself, the "
            "length of the row.",
            thread_sums.for_mean_over(_power_of_two(most)),
        )
    for factor in _FACTORS:
        yield (
            "mean-too-large",
            f"The mean over a row comes out {_times(factor)} as large as it should be: elements or "
            f"parts are added up more than once, or the sum is divided by D / {factor}, such as a "
            f"number of vectors, or a factor {factor} stands in the formula.",
            thread_sums.times(factor),
        )


def _times(factor: int) -> str:
    return "twice" if factor == 2 else f"{factor} times"


def _always(count: int) -> Length:
    return lambda dim: count


def multiple_of(count: int) -> Length:
    """Return what gives the next multiple of `count`, from a length D on."""
    return lambda dim: -(-dim // count) * count


def _power_of_two(most: int) -> Length:
    return lambda dim: min(most, 1 << (dim - 1).bit_length())


def _parts(at_once: int) -> Iterator[_Sum]:
    """Yield sums that some of the threads are left out of."""
    for offset in _HALVED_AT:
        text, threads = _half(offset * at_once, at_once), Threads(max(2 * offset, WARP), at_once)
        yield "half-summed", text, thread_sums.without_step(threads, offset)
        if offset < WARP:
            yield "half-summed", text, thread_sums.shuffled_without(threads, offset)
    for count in BLOCKS:
        if count <= 2 * WARP:
            continue  # A warp of two is one half, which has been said.
        threads = Threads(count, at_once)
        for only in (slice(0, 1), slice(-1, None)):
            text = _one_warp(count * at_once, WARP * at_once, at_once)
            yield "one-warp-only", text, thread_sums.of_warps(threads, only)
        yield (
            "one-warp-missing",
            f"{_of_every(count * at_once, at_once)} the last {WARP * at_once} are not in the sum, "
            f"as many as one warp takes. A block of {count} threads has {count // WARP} parts, one "
            "of each warp, and all are added.",
            thread_sums.of_warps(threads, slice(0, -1)),
        )


def _half(first: int, at_once: int) -> str:
    return (
        f"{_of_every(2 * first, at_once)} only half are in the sum, {first} and then {first} not. "
        "A step of the reduction may be missing (shuffles over a warp have the offsets 16, 8, 4, 2 "
        "and 1; a tree begins with half the number of threads and ends with 1), not all parts be "
        "added, the loop over the row go on by too much, or a member of a vector be forgotten."
    )


def _one_warp(span: int, taken: int, at_once: int) -> str:
    return (
        f"{_of_every(span, at_once)} only {taken} are in the sum, as many as one warp takes. Add "
        "up what all warps have, each in a place of its own in shared memory, after "
        "__syncthreads(); and let the loop over the row go on by the number of threads that take "
        "it."
    )


def _of_every(span: int, at_once: int) -> str:
    rows = f"a row whose length {at_once} divides" if at_once > 1 else "a row"
    return f"Of every {span} elements of {rows}"
