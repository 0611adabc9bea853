"""Known mistakes of kernels in RMSNorm's sum of squares, and in backward's sum."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.kernel_bank import held_by_one_thread, kernel_mistakes
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


MISTAKES: Final = (
    *kernel_mistakes(_in_forward, "rmsnorm"),
    *kernel_mistakes(_in_both_directions, "rmsnorm"),
    *held_by_one_thread(_in_forward, "rmsnorm"),
)
