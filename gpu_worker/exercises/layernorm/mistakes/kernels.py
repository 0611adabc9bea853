"""Known mistakes of kernels in LayerNorm's sums, for the mean and for the variance."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.kernel_bank import held_by_one_thread, kernel_mistakes
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch
from gpu_worker.exercises.thread_sums import Total


def _in_two_sweeps(total: Total) -> type[LayerNormScratch]:
    class SumsOfSomeThreads(LayerNormScratch):
        def mean(self, x: Array) -> Array:
            return total(x) / np.asarray(x.shape[-1], dtype=x.dtype)

        def variance(self, centred: Array) -> Array:
            return total(centred * centred) / np.asarray(centred.shape[-1], dtype=centred.dtype)

    return SumsOfSomeThreads


def _in_mean(total: Total) -> type[LayerNormScratch]:
    class SumOfSomeThreads(_in_two_sweeps(total)):  # type: ignore[misc]
        variance = LayerNormScratch.variance

    return SumOfSomeThreads


def _in_variance(total: Total) -> type[LayerNormScratch]:
    class SumOfSomeThreads(_in_two_sweeps(total)):  # type: ignore[misc]
        mean = LayerNormScratch.mean

    return SumOfSomeThreads


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


_WAYS: Final = (_in_two_sweeps, _in_one_sweep, _in_mean, _in_variance, _in_both_directions)
MISTAKES: Final = (
    *(known for make in _WAYS for known in kernel_mistakes(make, "layernorm")),
    *held_by_one_thread(_in_variance, "layernorm"),
)
