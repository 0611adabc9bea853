"""The root mean square, and gamma in forward."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()
_RMS: Final = {"step": "definition", "formula": "rmsnorm", "line": "rstd", "test": "forward"}


# --- the root mean square ------------------------------------------------------------------------
@MISTAKES.variant(
    "eps-outside-root",
    "eps is added after the square root. It belongs inside: sqrt(mean(x**2) + eps).",
    **_RMS,
)
class EpsOutsideRoot(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / (np.sqrt(self.mean_square(x)) + self.eps)


@MISTAKES.variant(
    "eps-outside-root",
    "eps is added to the row's norm, after the square root. It belongs inside: "
    "sqrt(mean(x**2) + eps).",
    **_RMS,
)
class EpsAddedToNorm(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        root = np.sqrt(x.shape[-1])
        return root / (root * np.sqrt(self.mean_square(x)) + self.eps)


@MISTAKES.variant(
    "eps-divided",
    "eps is added to the sum, so that it is divided by D too. It is added to the mean: "
    "sqrt(mean(x**2) + eps).",
    **_RMS,
)
class EpsDividedByD(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x) + self.eps / x.shape[-1])


@MISTAKES.variant(
    "eps-added-to-d",
    "eps is added to D, the number of elements, and not to the mean: sqrt(mean(x**2) + eps), where "
    "the mean is the sum divided by D.",
    **_RMS,
)
class EpsAddedToCount(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(np.sum(x * x, axis=-1, keepdims=True) / (x.shape[-1] + self.eps))


@MISTAKES.variant(
    "eps-added-to-d",
    "eps is added to D as well, the number of elements. It belongs to the mean alone: "
    "sqrt(mean(x**2) + eps).",
    **_RMS,
)
class EpsAddedToCountToo(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.sum(x * x, axis=-1, keepdims=True) / (x.shape[-1] + self.eps)


@MISTAKES.variant(
    "no-eps",
    "eps is missing. Without it a row of zeros is divided by zero, and tiny rows come out wrong.",
    **_RMS,
)
class NoEps(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x))


@MISTAKES.variant(
    "eps-fixed-1e-5",
    "eps is always 1e-5. Keep the eps that the constructor is given, and use it.",
    **_RMS,
)
class EpsAlways1e5(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x) + 1e-5)


@MISTAKES.variant(
    "eps-fixed-1e-6",
    "eps is always 1e-6. Keep the eps that the constructor is given, and use it.",
    **_RMS,
)
class EpsAlways1e6(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x) + 1e-6)


@MISTAKES.variant(
    "eps-fixed-1e-8",
    "eps is always 1e-8. Keep the eps that the constructor is given, and use it.",
    **_RMS,
)
class EpsAlways1e8(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x) + 1e-8)


@MISTAKES.variant(
    "eps-squared",
    "eps is squared before it is added. The formula adds eps itself to the mean square.",
    **_RMS,
)
class EpsSquared(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(self.mean_square(x) + self.eps**2)


@MISTAKES.variant(
    "eps-clamp",
    "The root mean square is only kept from falling below a bound (max), instead of adding eps "
    "to the mean square of every row.",
    **_RMS,
)
class EpsAsBound(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.sqrt(np.maximum(self.mean_square(x), self.eps))


@MISTAKES.variant(
    "eps-clamp",
    "The root mean square is only kept from falling below eps (max), instead of adding eps to the "
    "mean square of every row, under the root.",
    **_RMS,
)
class EpsAsBoundOfRoot(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / np.maximum(np.sqrt(self.mean_square(x)), self.eps)


@MISTAKES.variant(
    "root-missing",
    "The row is divided by the mean square itself; the square root is missing.",
    **_RMS,
)
class RootMissing(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / (self.mean_square(x) + self.eps)


@MISTAKES.variant(
    "rms-multiplied",
    "x is multiplied by RMS. It is divided by it: xhat = x / RMS.",
    **_RMS,
)
class RmsMultiplied(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / super().reciprocal_rms(x)


@MISTAKES.variant(
    "sum-for-mean",
    "The squares are summed but not divided by D: RMS is the root of their mean, not of their sum.",
    **{**_RMS, "line": "mean-square"},
)
class SumForMean(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.sum(x * x, axis=-1, keepdims=True)


@MISTAKES.variant(
    "d-minus-one",
    "The sum of squares is divided by D - 1. RMSNorm divides by D: it is no sample variance.",
    **{**_RMS, "line": "mean-square"},
)
class DividedByDMinusOne(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.sum(x * x, axis=-1, keepdims=True) / (x.shape[-1] - 1)


@MISTAKES.variant(
    "d-minus-one",
    "Means divide by D - 1, in both directions. RMSNorm divides by D: it is no sample variance.",
    **{**_RMS, "line": "mean-square"},
)
class MeansDividedByDMinusOne(DividedByDMinusOne):
    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True) / (d.shape[-1] - 1)


@MISTAKES.variant(
    "mean-absolute",
    "The mean of |x| is used where RMSNorm takes the root of the mean of x**2.",
    **{**_RMS, "line": "mean-square"},
)
class MeanAbsolute(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.mean(np.abs(x), axis=-1, keepdims=True) ** 2


@MISTAKES.variant(
    "whole-array-mean",
    "The mean runs over the whole array. Each row has its own: use axis=-1, keepdims=True.",
    **{**_RMS, "line": "mean-square"},
)
class MeanOverEverything(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.mean(x * x, keepdims=True)


@MISTAKES.variant(
    "whole-array-mean",
    "Means run over the whole array, in both directions. Each row has its own: use axis=-1, "
    "keepdims=True.",
    **{**_RMS, "line": "mean-square"},
)
class MeansOverEverything(MeanOverEverything):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, keepdims=True)


@MISTAKES.variant(
    "batch-axis-mean",
    "The mean runs over the first axis, as in batch normalization. RMSNorm normalizes over the "
    "last axis: each row by itself.",
    **{**_RMS, "line": "mean-square"},
)
class MeanOverBatch(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.mean(x * x, axis=0, keepdims=True)


@MISTAKES.variant(
    "batch-axis-mean",
    "Means run over the first axis, as in batch normalization, in both directions. RMSNorm "
    "normalizes over the last axis: each row by itself.",
    **{**_RMS, "line": "mean-square"},
)
class MeansOverBatch(MeanOverBatch):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, axis=0, keepdims=True)


@MISTAKES.variant(
    "all-axes-but-first",
    "The mean runs over all axes but the first. With three dimensions each token is a row of its "
    "own: use axis=-1, keepdims=True.",
    **{**_RMS, "line": "mean-square", "test": "shapes"},
)
class MeanOverAllButFirst(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.mean(x * x, axis=tuple(range(1, x.ndim)), keepdims=True)


@MISTAKES.variant(
    "all-axes-but-first",
    "Means run over all axes but the first, in both directions. With three dimensions each token "
    "is a row of its own: use axis=-1, keepdims=True.",
    **{**_RMS, "line": "mean-square", "test": "shapes"},
)
class MeansOverAllButFirst(MeanOverAllButFirst):
    def projection(self, d: Array) -> Array:
        product = self.weighted(d) * self.xhat
        return np.mean(product, axis=tuple(range(1, d.ndim)), keepdims=True)


@MISTAKES.variant(
    "mean-subtracted",
    "The row's mean is subtracted, as LayerNorm does. RMSNorm leaves it.",
    step="definition",
    formula="layernorm",
    line="xhat",
    test="forward",
)
class MeanSubtracted(RMSNormScratch):
    def prepare(self, x: Array) -> Array:
        return x - np.mean(x, axis=-1, keepdims=True)


@MISTAKES.variant(
    "mean-subtracted",
    "The row's mean is subtracted, as LayerNorm does, in both directions. RMSNorm leaves it.",
    step="definition",
    formula="layernorm",
    line="xhat",
    test="forward",
)
class WholeLayerNorm(MeanSubtracted):
    def gradient_x(self, d: Array) -> Array:
        weighted = self.weighted(d)
        centred = weighted - np.mean(weighted, axis=-1, keepdims=True)
        return (centred - self.xhat * self.projection(d)) * self.rstd


@MISTAKES.variant(
    "standard-deviation",
    "x is divided by its standard deviation. The root mean square is taken around zero, not "
    "around the row's mean.",
    **_RMS,
)
class StandardDeviation(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.var(x, axis=-1, keepdims=True)


# --- gamma in forward ----------------------------------------------------------------------------
@MISTAKES.variant(
    "gamma-missing",
    "gamma is missing in forward: y = xhat * gamma.",
    step="definition",
    formula="rmsnorm",
    line="scale",
    test="forward",
)
class GammaMissing(RMSNormScratch):
    def scale(self, xhat: Array) -> Array:
        return xhat


@MISTAKES.variant(
    "gamma-missing",
    "gamma is used nowhere: forward multiplies by it, and backward multiplies dout by it.",
    step="definition",
    formula="rmsnorm",
    line="scale",
    test="forward",
)
class GammaMissingEverywhere(GammaMissing):
    def weighted(self, d: Array) -> Array:
        return d


@MISTAKES.variant(
    "gamma-plus-one",
    "y is multiplied by 1 + gamma. Some models store gamma that way; here gamma itself is the "
    "factor.",
    step="definition",
    formula="rmsnorm",
    line="scale",
    test="forward",
)
class GammaPlusOne(RMSNormScratch):
    def scale(self, xhat: Array) -> Array:
        return xhat * (1.0 + self.gamma)

    def weighted(self, d: Array) -> Array:
        return d * (1.0 + self.gamma)
