"""Mean and deviation, gamma and beta in forward."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch

MISTAKES: Final = Bank()
_DEVIATION: Final = {
    "step": "definition", "formula": "layernorm", "line": "rstd", "test": "forward"
}  # fmt: skip
_MEAN: Final = {**_DEVIATION, "line": "xhat"}
_VARIANCE: Final = {**_DEVIATION, "line": "mean-square"}
_Y: Final = {**_DEVIATION, "line": "scale"}


# --- mean and deviation --------------------------------------------------------------------------
@MISTAKES.variant(
    "eps-outside-root",
    "eps is added after the square root. It belongs inside: sqrt(var + eps).",
    **_DEVIATION,
)
class EpsOutsideRoot(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / (np.sqrt(self.variance(centred)) + self.eps)


@MISTAKES.variant(
    "eps-outside-root",
    "eps is added to the norm of x - mean, after the square root. It belongs inside: "
    "sqrt(var + eps).",
    **_DEVIATION,
)
class EpsAddedToNorm(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        root = np.sqrt(centred.shape[-1])
        return root / (root * np.sqrt(self.variance(centred)) + self.eps)


@MISTAKES.variant(
    "eps-divided",
    "eps is added to the sum, so that it is divided by D too. It is added to the mean: "
    "sqrt(var + eps).",
    **_DEVIATION,
)
class EpsDividedByD(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred) + self.eps / centred.shape[-1])


@MISTAKES.variant(
    "eps-added-to-d",
    "eps is added to D, the number of elements, and not to the variance: sqrt(var + eps), where "
    "var is the sum of squared deviations divided by D.",
    **_DEVIATION,
)
class EpsAddedToCount(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        total = np.sum(centred * centred, axis=-1, keepdims=True)
        return 1.0 / np.sqrt(total / (centred.shape[-1] + self.eps))


@MISTAKES.variant(
    "eps-added-to-d",
    "eps is added to D as well, the number of elements. It belongs to the variance alone: "
    "sqrt(var + eps).",
    **_DEVIATION,
)
class EpsAddedToCountToo(LayerNormScratch):
    def variance(self, centred: Array) -> Array:
        return np.sum(centred * centred, axis=-1, keepdims=True) / (centred.shape[-1] + self.eps)


@MISTAKES.variant(
    "no-eps",
    "eps is missing. Without it a constant row is divided by zero, and nearly constant rows come "
    "out wrong.",
    **_DEVIATION,
)
class NoEps(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred))


@MISTAKES.variant(
    "eps-fixed-1e-5",
    "eps is always 1e-5. Keep the eps that the constructor is given, and use it.",
    **_DEVIATION,
)
class EpsAlways1e5(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred) + 1e-5)


@MISTAKES.variant(
    "eps-fixed-1e-6",
    "eps is always 1e-6. Keep the eps that the constructor is given, and use it.",
    **_DEVIATION,
)
class EpsAlways1e6(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred) + 1e-6)


@MISTAKES.variant(
    "eps-fixed-1e-8",
    "eps is always 1e-8. Keep the eps that the constructor is given, and use it.",
    **_DEVIATION,
)
class EpsAlways1e8(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred) + 1e-8)


@MISTAKES.variant(
    "eps-clamp",
    "The variance is only kept from falling below a bound (max), instead of adding eps to that of "
    "every row.",
    **_DEVIATION,
)
class EpsAsBound(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(np.maximum(self.variance(centred), self.eps))


@MISTAKES.variant(
    "eps-clamp",
    "The standard deviation is only kept from falling below eps (max), instead of adding eps to "
    "the variance of every row, under the root.",
    **_DEVIATION,
)
class EpsAsBoundOfRoot(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.maximum(np.sqrt(self.variance(centred)), self.eps)


@MISTAKES.variant(
    "eps-squared",
    "eps is squared before it is added. The formula adds eps itself to the variance.",
    **_DEVIATION,
)
class EpsSquared(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / np.sqrt(self.variance(centred) + self.eps**2)


@MISTAKES.variant(
    "root-missing",
    "The row is divided by its variance; the square root is missing.",
    **_DEVIATION,
)
class RootMissing(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / (self.variance(centred) + self.eps)


@MISTAKES.variant(
    "deviation-multiplied",
    "x - mean is multiplied by the deviation. It is divided by it: "
    "xhat = (x - mean) / sqrt(var + eps).",
    **_DEVIATION,
)
class DeviationMultiplied(LayerNormScratch):
    def reciprocal_deviation(self, centred: Array) -> Array:
        return 1.0 / super().reciprocal_deviation(centred)


@MISTAKES.variant(
    "mean-not-subtracted",
    "The row's mean is not subtracted: that is RMSNorm. LayerNorm centres each row first.",
    **_MEAN,
)
class MeanNotSubtracted(LayerNormScratch):
    def centre(self, x: Array) -> Array:
        return x


@MISTAKES.variant(
    "mean-not-subtracted",
    "The row's mean is not subtracted, in neither direction: that is RMSNorm. LayerNorm centres "
    "each row first.",
    **_MEAN,
)
class WholeRmsNorm(MeanNotSubtracted):
    def mean_gradient(self, d: Array) -> Array:
        return np.zeros_like(self.rstd)


@MISTAKES.variant(
    "mean-not-subtracted",
    "The row's mean is subtracted for the variance only. xhat is (x - mean) / sqrt(var + eps).",
    **_MEAN,
)
class MeanInVarianceOnly(LayerNormScratch):
    def centre(self, x: Array) -> Array:
        return x

    def variance(self, centred: Array) -> Array:
        return np.var(centred, axis=-1, keepdims=True)


@MISTAKES.variant(
    "d-minus-one",
    "The variance is divided by D - 1 (ddof=1). LayerNorm divides by D.",
    **_VARIANCE,
)
class DividedByDMinusOne(LayerNormScratch):
    def variance(self, centred: Array) -> Array:
        return np.sum(centred * centred, axis=-1, keepdims=True) / (centred.shape[-1] - 1)


@MISTAKES.variant(
    "d-minus-one",
    "The variance is divided by D - 1 (ddof=1), and in dx the mean with xhat too. LayerNorm "
    "divides by D.",
    **_VARIANCE,
)
class ProjectionDividedByDMinusOne(DividedByDMinusOne):
    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True) / (d.shape[-1] - 1)


@MISTAKES.variant(
    "d-minus-one",
    "The variance and the means in dx divide by D - 1. LayerNorm divides by D.",
    **_VARIANCE,
)
class MeansDividedByDMinusOne(ProjectionDividedByDMinusOne):
    def mean_gradient(self, d: Array) -> Array:
        return np.sum(self.weighted(d), axis=-1, keepdims=True) / (d.shape[-1] - 1)


@MISTAKES.variant(
    "sum-for-mean",
    "The squared deviations are summed but not divided by D: the variance is their mean.",
    **_VARIANCE,
)
class SumForMean(LayerNormScratch):
    def variance(self, centred: Array) -> Array:
        return np.sum(centred * centred, axis=-1, keepdims=True)


@MISTAKES.variant(
    "mean-absolute",
    "The mean of |x - mean| is used where LayerNorm takes the root of the mean of (x - mean)**2.",
    **_VARIANCE,
)
class MeanAbsolute(LayerNormScratch):
    def variance(self, centred: Array) -> Array:
        return np.mean(np.abs(centred), axis=-1, keepdims=True) ** 2


@MISTAKES.variant(
    "all-axes-but-first",
    "Mean and variance run over all axes but the first. With three dimensions each token is a row "
    "of its own: axis=-1, keepdims=True.",
    **{**_VARIANCE, "test": "shapes"},
)
class StatisticsOfAllButFirst(LayerNormScratch):
    def mean(self, x: Array) -> Array:
        return np.mean(x, axis=tuple(range(1, x.ndim)), keepdims=True)

    def variance(self, centred: Array) -> Array:
        return np.mean(centred * centred, axis=tuple(range(1, centred.ndim)), keepdims=True)


@MISTAKES.variant(
    "all-axes-but-first",
    "Means run over all axes but the first, in both directions. With three dimensions each token "
    "is a row of its own: axis=-1, keepdims=True.",
    **{**_VARIANCE, "test": "shapes"},
)
class MeansOverAllButFirst(StatisticsOfAllButFirst):
    def mean_gradient(self, d: Array) -> Array:
        return np.mean(self.weighted(d), axis=tuple(range(1, d.ndim)), keepdims=True)

    def projection(self, d: Array) -> Array:
        product = self.weighted(d) * self.xhat
        return np.mean(product, axis=tuple(range(1, d.ndim)), keepdims=True)


@MISTAKES.variant(
    "whole-array-mean",
    "Mean and variance run over the whole array. Each row has its own: axis=-1, keepdims=True.",
    **_VARIANCE,
)
class StatisticsOfEverything(LayerNormScratch):
    def centre(self, x: Array) -> Array:
        return x - np.mean(x)

    def variance(self, centred: Array) -> Array:
        return np.mean(centred * centred, keepdims=True)


@MISTAKES.variant(
    "whole-array-mean",
    "Means run over the whole array, in both directions. Each row has its own: axis=-1, "
    "keepdims=True.",
    **_VARIANCE,
)
class MeansOverEverything(StatisticsOfEverything):
    def mean_gradient(self, d: Array) -> Array:
        return np.mean(self.weighted(d), keepdims=True)

    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, keepdims=True)


@MISTAKES.variant(
    "batch-axis-mean",
    "Mean and variance run over the first axis: that is batch normalization. LayerNorm "
    "normalizes over the last axis, each row by itself.",
    **_VARIANCE,
)
class StatisticsOfBatch(LayerNormScratch):
    def centre(self, x: Array) -> Array:
        return x - np.mean(x, axis=0, keepdims=True)

    def variance(self, centred: Array) -> Array:
        return np.mean(centred * centred, axis=0, keepdims=True)


@MISTAKES.variant(
    "batch-axis-mean",
    "Means run over the first axis, in both directions: that is batch normalization. LayerNorm "
    "normalizes over the last axis, each row by itself.",
    **_VARIANCE,
)
class MeansOverBatch(StatisticsOfBatch):
    def mean_gradient(self, d: Array) -> Array:
        return np.mean(self.weighted(d), axis=0, keepdims=True)

    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, axis=0, keepdims=True)


# --- gamma and beta in forward -------------------------------------------------------------------
@MISTAKES.variant("gamma-missing", "gamma is missing in forward: y = xhat * gamma + beta.", **_Y)
class GammaMissing(LayerNormScratch):
    def scale_and_shift(self, xhat: Array) -> Array:
        return xhat + self.beta


@MISTAKES.variant(
    "gamma-missing",
    "gamma is used nowhere: forward multiplies by it, and backward multiplies dout by it.",
    **_Y,
)
class GammaMissingEverywhere(GammaMissing):
    def weighted(self, d: Array) -> Array:
        return d


@MISTAKES.variant("beta-missing", "beta is missing in forward: y = xhat * gamma + beta.", **_Y)
class BetaMissing(LayerNormScratch):
    def scale_and_shift(self, xhat: Array) -> Array:
        return xhat * self.gamma


@MISTAKES.variant(
    "beta-inside-gamma",
    "beta is added before gamma is multiplied. The order is y = xhat * gamma + beta.",
    **_Y,
)
class BetaBeforeGamma(LayerNormScratch):
    def scale_and_shift(self, xhat: Array) -> Array:
        return (xhat + self.beta) * self.gamma
