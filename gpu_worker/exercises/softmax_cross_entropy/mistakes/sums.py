"""The shift by the maximum, and the sum of the exponentials."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.softmax_cross_entropy.reference_numpy import SoftmaxCrossEntropyScratch

MISTAKES: Final = Bank()
_SHIFT: Final = {
    "step": "definition", "formula": "shift-invariance", "line": "shift", "test": "precision"
}  # fmt: skip
_SUM: Final = {
    "step": "definition", "formula": "softmax", "line": "total", "test": "losses"
}  # fmt: skip


# --- the shift -----------------------------------------------------------------------------------
class ShiftMissingInFloat64(SoftmaxCrossEntropyScratch):
    def shift(self, x: Array) -> Array:
        return x


_SHIFT_MISSING: Final = (
    "exp is taken of x itself and overflows, from 88.8 on in float32 and 709.8 in float64; far "
    "below zero all of it underflows. Subtract the row's maximum first: it changes nothing else."
)
MISTAKES.variant("shift-missing", _SHIFT_MISSING, **_SHIFT)(ShiftMissingInFloat64)
# Most submissions compute in float64; those that stay in float32 overflow earlier.
MISTAKES.variant("shift-missing", _SHIFT_MISSING, native=True, **_SHIFT)(
    type("ShiftMissingInFloat32", (ShiftMissingInFloat64,), {})
)


class WholeArrayMaximumInFloat64(SoftmaxCrossEntropyScratch):
    def shift(self, x: Array) -> Array:
        return x - np.max(x, initial=-np.inf)


_WHOLE_MAXIMUM: Final = (
    "The maximum is taken over the whole array, so rows far below it underflow to a sum of zero. "
    "Take it over the last axis: np.max(x, axis=-1, keepdims=True)."
)
MISTAKES.variant("whole-array-maximum", _WHOLE_MAXIMUM, **_SHIFT)(WholeArrayMaximumInFloat64)
MISTAKES.variant("whole-array-maximum", _WHOLE_MAXIMUM, native=True, **_SHIFT)(
    type("WholeArrayMaximumInFloat32", (WholeArrayMaximumInFloat64,), {})
)


@MISTAKES.variant(
    "divided-by-maximum",
    "x is divided by its maximum. Softmax does not change when a number is subtracted from the "
    "whole row, but it does when the row is scaled.",
    **{**_SHIFT, "test": "losses"},
)
class DividedByMaximum(SoftmaxCrossEntropyScratch):
    def shift(self, x: Array) -> Array:
        return x / np.max(x, axis=-1, keepdims=True)


@MISTAKES.variant(
    "temperature-root-d",
    "x is divided by sqrt(D) first. That is a temperature, as attention has one; softmax itself "
    "has none.",
    **{**_SHIFT, "formula": "temperature", "test": "losses"},
)
class TemperatureRootD(SoftmaxCrossEntropyScratch):
    def shift(self, x: Array) -> Array:
        return super().shift(x) / np.sqrt(x.shape[-1])


# --- the sum -------------------------------------------------------------------------------------
@MISTAKES.variant(
    "sum-over-batch",
    "The sum of exponentials runs over the first axis. It runs over the classes of one row, the "
    "last axis.",
    **_SUM,
)
class SumOverBatch(SoftmaxCrossEntropyScratch):
    def sum(self, exponentials: Array) -> Array:
        return np.sum(exponentials, axis=0, keepdims=True)


@MISTAKES.variant(
    "sum-over-array",
    "The sum of exponentials runs over the whole array. Each row has a sum of its own: axis=-1, "
    "keepdims=True.",
    **_SUM,
)
class SumOverArray(SoftmaxCrossEntropyScratch):
    def sum(self, exponentials: Array) -> Array:
        return np.sum(exponentials, keepdims=True)


@MISTAKES.variant(
    "mean-for-sum",
    "The exponentials are averaged, not added, so the probabilities add up to D.",
    **_SUM,
)
class MeanForSum(SoftmaxCrossEntropyScratch):
    def sum(self, exponentials: Array) -> Array:
        return np.mean(exponentials, axis=-1, keepdims=True)


@MISTAKES.variant(
    "eps-in-sum",
    "A small number is added to the sum of exponentials. After the shift the sum is at least 1, "
    "so nothing needs protection, and the losses come out wrong.",
    **{**_SUM, "formula": "log-sum-exp", "test": "losses"},
)
class EpsInSum(SoftmaxCrossEntropyScratch):
    def sum(self, exponentials: Array) -> Array:
        return super().sum(exponentials) + exponentials.dtype.type(1e-3)
