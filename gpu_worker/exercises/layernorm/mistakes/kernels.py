"""Known mistakes of kernels in LayerNorm's sums, for the mean and for the variance."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.kernel_bank import kernel_mistakes, multiple_of, others_are_zero
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch
from gpu_worker.exercises.thread_sums import BLOCKS, Length, Total


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


_PADDING: Final = Bank()
_PADDED_TO: Final = (
    *(multiple_of(count) for count in BLOCKS),
    *(multiple_of(4 * count) for count in BLOCKS),
    multiple_of(8192),
)


def _with_padding(length: Length) -> type[LayerNormScratch]:
    class DeviationOfPadding(LayerNormScratch):
        def variance(self, centred: Array) -> Array:
            dim = centred.shape[-1]
            mean = self.mean(self.x)
            return super().variance(centred) + mean * mean * (length(dim) / dim - 1)

    return DeviationOfPadding


for _length in _PADDED_TO:
    _PADDING.variant(
        "padding-in-variance",
        "Zeros that a row is filled up with are in the variance: each adds mean**2. Add only what "
        "is in the row: if (j < D).",
        formula="layernorm",
        test="forward",
    )(_with_padding(_length))

FORWARD: Final = (
    *_PADDING,
    *kernel_mistakes(_in_two_sweeps, "layernorm"),
    *kernel_mistakes(_in_one_sweep, "layernorm"),
    *kernel_mistakes(_in_mean, "layernorm", "the mean"),
    *kernel_mistakes(_in_variance, "layernorm", "the variance"),
    *others_are_zero(_in_variance, "layernorm"),
)
MISTAKES: Final = (*FORWARD, *kernel_mistakes(_in_both_directions, "layernorm"))
