"""Known mistakes of kernels in LayerNorm's sums, for the mean and for the variance."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.kernel_bank import kernel_mistakes
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch
from gpu_worker.exercises.thread_sums import Total


def _in_two_sweeps(total: Total) -> type[LayerNormScratch]:
    class SumsOfSomeThreads(LayerNormScratch):
        def mean(self, x: Array) -> Array:
            return total(x) / np.asarray(x.shape[-1], dtype=x.dtype)

        def variance(self, centred: Array) -> Array:
            return total(centred * centred) / np.asarray(centred.shape[-1], dtype=centred.dtype)

    return SumsOfSomeThreads


def _in_one_sweep(total: Total) -> type[LayerNormScratch]:
    class SumsOfSomeThreads(_in_two_sweeps(total)):  # type: ignore[misc]
        def variance(self, centred: Array) -> Array:
            mean = self.mean(self.x)
            return self.mean(self.x * self.x) - mean * mean

    return SumsOfSomeThreads


def _in_both_directions(total: Total) -> type[LayerNormScratch]:
    class SumsOfSomeThreads(_in_two_sweeps(total)):  # type: ignore[misc]
        def mean_gradient(self, d: Array) -> Array:
            return self.mean(self.weighted(d))

        def projection(self, d: Array) -> Array:
            return self.mean(self.weighted(d) * self.xhat)

    return SumsOfSomeThreads


MISTAKES: Final = (
    *kernel_mistakes(_in_two_sweeps, "layernorm"),
    *kernel_mistakes(_in_one_sweep, "layernorm"),
    *kernel_mistakes(_in_both_directions, "layernorm"),
)
