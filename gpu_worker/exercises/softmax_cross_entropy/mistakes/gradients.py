"""The gradient for x."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.softmax_cross_entropy.reference_numpy import SoftmaxCrossEntropyScratch

MISTAKES: Final = Bank()
_DX: Final = {
    "step": "result", "formula": "gradient", "line": "dx", "test": "gradient-x"
}  # fmt: skip
_JACOBIAN: Final = {**_DX, "step": "jacobian", "formula": "softmax"}
_WEIGHT: Final = {**_DX, "line": "weight"}
_P: Final = {**_DX, "line": "probabilities"}


# --- terms ---------------------------------------------------------------------------------------
@MISTAKES.variant(
    "softmax-term-missing",
    "dx holds only -dout: the path through the sum is missing. Every x of the row is in the sum "
    "of exponentials, which brings + p * sum(dout).",
    **_JACOBIAN,
)
class SoftmaxTermMissing(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.zeros_like(self.total)


@MISTAKES.variant(
    "target-term-missing",
    "dx holds only p * sum(dout): the direct path is missing. Each x is in its own loss with a "
    "minus, which brings - dout.",
    **_DX,
)
class TargetTermMissing(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.probabilities() * self.weight(d)


@MISTAKES.variant(
    "off-diagonal-missing",
    "dx is dout * (p - 1): only the diagonal of the Jacobian. Raising one x lowers the "
    "probabilities of all other classes too, so dx sums over every class.",
    **_JACOBIAN,
)
class OffDiagonalMissing(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return d * (self.probabilities() - 1)


@MISTAKES.variant(
    "softmax-gradient",
    "dx is p * (dout - sum(dout * p)), the gradient of the probabilities. y is their negative "
    "logarithm, which divides by p once more and turns the sign.",
    **{**_DX, "step": "chain-rule"},
)
class SoftmaxGradient(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        p = self.probabilities()
        return p * (d - np.sum(d * p, axis=-1, keepdims=True))


@MISTAKES.variant(
    "gradient-sign",
    "dx has the wrong sign: it is p - target, so that a step against it raises the target's "
    "probability.",
    **_DX,
)
class GradientSign(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return -super().gradient_x(d)


@MISTAKES.variant(
    "gradient-mean-over-rows",
    "dx is divided by the number of rows. Where a loss is averaged over the batch, the 1/N is in "
    "dout already.",
    **{**_DX, "step": "batch"},
)
class GradientMeanOverRows(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return super().gradient_x(d) / max(1, d.size // d.shape[-1])


@MISTAKES.variant(
    "gradient-mean-over-classes",
    "dx is divided by the number of classes. The loss of a row is a sum over the classes, not a "
    "mean.",
    **_DX,
)
class GradientMeanOverClasses(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return super().gradient_x(d) / d.shape[-1]


# --- the weight of p -----------------------------------------------------------------------------
@MISTAKES.variant(
    "dout-sum-taken-as-one",
    "dx is p - dout, which holds where dout adds up to one. In general p counts as often as all "
    "of dout together: p * sum(dout) - dout.",
    **_WEIGHT,
)
class DoutSumTakenAsOne(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.ones_like(self.total)


@MISTAKES.variant(
    "dout-mean-for-sum",
    "p is multiplied by the mean of dout. It is the sum: p counts once for every class.",
    **_WEIGHT,
)
class DoutMeanForSum(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.mean(d, axis=-1, keepdims=True)


@MISTAKES.variant(
    "dout-summed-over-batch",
    "dout is summed over the first axis. Rows have nothing to do with each other: sum it over "
    "the last one.",
    **_WEIGHT,
)
class DoutSummedOverBatch(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.sum(d, axis=0, keepdims=True)


@MISTAKES.variant(
    "dout-summed-over-array",
    "dout is summed over the whole array. Each row has a sum of its own: axis=-1, keepdims=True.",
    **_WEIGHT,
)
class DoutSummedOverArray(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.sum(d, keepdims=True)


@MISTAKES.variant(
    "dout-ignored-in-p",
    "p is multiplied by the number of classes, as if dout were all ones. Multiply by sum(dout).",
    **_WEIGHT,
)
class DoutIgnoredInP(SoftmaxCrossEntropyScratch):
    def weight(self, d: Array) -> Array:
        return np.full_like(self.total, d.shape[-1])


# --- the probabilities ---------------------------------------------------------------------------
@MISTAKES.variant(
    "normalizer-missing-in-dx",
    "backward uses the exponentials without dividing by their sum. Probabilities add up to one.",
    **_P,
)
class NormalizerMissingInDx(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.exponentials * self.weight(d) - d


@MISTAKES.variant(
    "losses-for-probabilities",
    "backward multiplies sum(dout) by the losses. It is multiplied by the probabilities, "
    "p = exp(-y).",
    **_P,
)
class LossesForProbabilities(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.losses() * self.weight(d) - d


@MISTAKES.variant(
    "logits-for-probabilities",
    "backward multiplies sum(dout) by x. It is multiplied by the probabilities, softmax(x).",
    **_P,
)
class LogitsForProbabilities(SoftmaxCrossEntropyScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.x * self.weight(d) - d
