"""Known mistakes of kernels in RMSNorm's sum of squares, and in backward's sum."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.kernel_bank import kernel_mistakes, others_are_zero
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch
from gpu_worker.exercises.thread_sums import Total


def _in_forward(total: Total) -> type[RMSNormScratch]:
    class SumOfSomeThreads(RMSNormScratch):
        def mean_square(self, x: Array) -> Array:
            return total(x * x) / np.asarray(x.shape[-1], dtype=x.dtype)

    return SumOfSomeThreads


def _in_both_directions(total: Total) -> type[RMSNormScratch]:
    class SumsOfSomeThreads(_in_forward(total)):  # type: ignore[misc]
        def projection(self, d: Array) -> Array:
            return total(self.weighted(d) * self.xhat) / np.asarray(d.shape[-1], dtype=d.dtype)

    return SumsOfSomeThreads


def _in_backward(total: Total) -> type[RMSNormScratch]:
    class SumOfSomeThreads(_in_both_directions(total)):  # type: ignore[misc]
        mean_square = RMSNormScratch.mean_square

    return SumOfSomeThreads


FORWARD: Final = (
    *kernel_mistakes(_in_forward, "rmsnorm"),
    *others_are_zero(_in_forward, "rmsnorm"),
)
MISTAKES: Final = (
    *FORWARD,
    *kernel_mistakes(_in_both_directions, "rmsnorm"),
    *kernel_mistakes(_in_backward, "rmsnorm", "dx"),
)
