"""The mistakes that kernels make in the sum over a row, for every class that has one.

They are looked for on the CuPy track only; `thread_sums` says what each comes to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from gpu_worker.exercises import thread_sums
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.thread_sums import BLOCKS, WARP, Threads, Total

Make = Callable[[Total], type]
"""Makes the reference with each sum over a row replaced."""

_Sum = tuple[str, str, Total]
"""A mistake's id, what the report says, and what threads take for the sum."""

_ONE, _VECTOR, _PIECE = 1, 4, 0
"""Elements that a thread takes at once: one, a float4, or its whole piece of the row."""
_WHOLE_SUM: Final = (
    "Hand the whole sum to every thread: through one place in shared memory, with __syncthreads() "
    "before it is read, or within a warp by __shfl_xor_sync or __shfl_sync(mask, sum, 0)."
)
_ONE_MISSING: Final = (
    "What the block's last warp added up is not in the sum: there are as many parts as warps, "
    "blockDim.x / 32, and all are added."
)
_FACTORS: Final = (2, 4, 8, 16, 32)


def kernel_mistakes(make: Make, formula: str) -> Bank:
    """Return the mistakes of a class; `make` gives its variants, `formula` is the chapter's."""
    return _bank(make, formula, _sums())


def held_by_one_thread(make: Make, formula: str) -> Bank:
    """Return that all threads but the first go on with 0 for what the sum's root is divided into.

    For classes that give 0 where the sum is infinite; NaN would explain whatever is wrong.
    """
    return _bank(make, formula, [_held(threads, math.inf) for threads in _every_way()])


def _bank(make: Make, formula: str, sums: Iterable[_Sum]) -> Bank:
    bank = Bank()
    for id, explanation, total in sums:
        cls = make(total)
        bank.variant(id, explanation, formula=formula, test="forward")(cls)
    return bank


def _every_way() -> Iterator[Threads]:
    for at_once in (_ONE, _VECTOR, _PIECE):
        for count in BLOCKS:
            yield Threads(count, at_once)


def _held(threads: Threads, others: float) -> _Sum:
    return (
        "sum-in-one-thread",
        "The first thread alone has the whole sum, and the others go on without: a variable that "
        f"one thread sets is set in that thread only. {_WHOLE_SUM}",
        thread_sums.held_by_first_thread(threads, others),
    )


def _sums() -> Iterator[_Sum]:
    for count in BLOCKS:
        yield from _of_blocks(count)
    yield (
        "divided-by-rounded",
        "The sum is divided by D rounded up to a power of two. A mean divides by D itself, the "
        "length of the row.",
        thread_sums.for_mean_over(lambda dim: 1 << (dim - 1).bit_length()),
    )
    for factor in _FACTORS:
        yield (
            "sum-counted-again",
            f"The sum over a row is {factor} times too large. Threads that have the whole sum are "
            "added up once more, or a part is read by several: each part counts once.",
            thread_sums.times(factor),
        )
    for threads in _every_way():
        yield from _of(threads)


def _of_blocks(count: int) -> Iterator[_Sum]:
    yield (
        "divided-by-threads",
        f"The sum is divided by {count}, a number of threads, in rows of every length. A mean "
        "divides by D, the length of the row.",
        thread_sums.for_mean_over(lambda dim: count),
    )
    yield (
        "divided-by-rounded",
        f"The sum is divided by D rounded up to a multiple of {count}. A mean divides by D itself, "
        "the length of the row.",
        thread_sums.for_mean_over(lambda dim: -(-dim // count) * count),
    )
    yield (
        "first-elements-only",
        f"Only the first {count} elements of a row are in the sum. Where a row is longer than a "
        "block, each thread takes several: for (int j = threadIdx.x; j < D; j += blockDim.x).",
        thread_sums.of_first_elements(count),
    )


def _of(threads: Threads) -> Iterator[_Sum]:
    yield (
        "own-sum-only",
        "Each thread goes on with the sum of its own elements: the threads' sums are not added. "
        f"{_WHOLE_SUM}",
        thread_sums.own(threads),
    )
    for total in thread_sums.left_in_one_thread(threads):
        yield (
            "sum-in-one-thread",
            "The whole sum is in one thread or in one warp only, and the other threads go on with "
            f"a part of it. {_WHOLE_SUM}",
            total,
        )
    yield _held(threads, 0.0)
    yield from _of_parts(threads)


def _of_parts(threads: Threads) -> Iterator[_Sum]:
    count = threads.count
    offsets = [1, WARP // 2]
    if count > WARP:
        for only in (slice(0, 1), slice(-1, None)):
            yield "one-warp-only", _of_one_warp(count), thread_sums.of_warps(threads, only)
    if count > 2 * WARP:
        # Of two warps, one that is missing is the other one alone, and half of the threads.
        yield "one-warp-missing", _ONE_MISSING, thread_sums.of_warps(threads, slice(0, -1))
        offsets.append(count // 2)
    for offset in offsets:
        text = _step_missing(offset)
        yield "reduction-step-missing", text, thread_sums.without_step(threads, offset)
        if count == WARP:
            yield "reduction-step-missing", text, thread_sums.shuffled_without(threads, offset)


def _of_one_warp(count: int) -> str:
    return (
        f"Of every {count} elements of a row only 32 are in the sum: those of one warp, if {count} "
        "threads take the row in turn. Add up what all warps have, each in a place of its own in "
        "shared memory, after __syncthreads(); and let the loop over the row go on by the number "
        "of threads that take it."
    )


def _step_missing(offset: int) -> str:
    return (
        f"Half of the threads are not in the sum: the step that adds what is {offset} further is "
        "missing. Shuffles over a warp have the offsets 16, 8, 4, 2 and 1; a tree begins with half "
        "the number of threads and ends with 1."
    )
