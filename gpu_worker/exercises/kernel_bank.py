"""The mistakes that kernels make in the sum over a row, for every class that has one.

They are looked for on the CuPy track only; `thread_sums` says what each comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gpu_worker.exercises import thread_sums
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.thread_sums import BLOCKS, WARP, Threads, Total

Make = Callable[[Total], type]
"""Makes the reference with each sum over a row replaced."""

_VECTOR: Final = 4
"""Elements of a float4."""
_WHOLE_SUM: Final = (
    "Hand the whole sum to every thread: through one place in shared memory, with __syncthreads() "
    "before it is read, or within a warp by __shfl_xor_sync or __shfl_sync(mask, sum, 0)."
)


def kernel_mistakes(make: Make, formula: str) -> Bank:
    """Return the mistakes of a class; `make` gives its variants, `formula` is the chapter's."""
    bank = Bank()
    for id, explanation, total in _sums():
        cls = make(total)
        bank.variant(id, explanation, formula=formula, test="forward")(cls)
    return bank


def _sums() -> Iterator[tuple[str, str, Total]]:
    for count in BLOCKS:
        yield (
            "divided-by-threads",
            f"The sum is divided by {count}, a number of threads, in rows of every length. A mean "
            "divides by D, the length of the row.",
            _divided_by(count),
        )
    for at_once in (1, _VECTOR):
        for count in BLOCKS:
            yield from _of(Threads(count, at_once))


def _of(threads: Threads) -> Iterator[tuple[str, str, Total]]:
    yield (
        "own-sum-only",
        "Each thread goes on with the sum of its own elements: the threads' sums are not added. "
        f"{_WHOLE_SUM}",
        thread_sums.own(threads),
    )
    for total in thread_sums.left_in_first_thread(threads):
        yield (
            "sum-in-first-thread",
            "The whole sum is in the first thread or the first warp only, and the other threads "
            f"go on with a part of it. {_WHOLE_SUM}",
            total,
        )
    halves = [thread_sums.of_own_half_warp(threads)] if threads.count == WARP else []
    for total in (thread_sums.of_half_warps(threads), *halves):
        yield (
            "half-warp-summed",
            "Only half of each warp is added up. A warp has 32 lanes: five shuffles, with the "
            "offsets 16, 8, 4, 2 and 1.",
            total,
        )
    if threads.count > WARP:
        yield (
            "first-warp-only",
            "Only what the block's first warp added up is in the sum. Have the first lane of each "
            "warp write its part to shared memory, and after __syncthreads() add up all parts.",
            thread_sums.of_first_warp(threads),
        )


def _divided_by(count: int) -> Total:
    def total(values: thread_sums.Array) -> thread_sums.Array:
        whole: thread_sums.Array = values.sum(axis=-1, keepdims=True)
        return whole * (values.shape[-1] / count)

    return total
