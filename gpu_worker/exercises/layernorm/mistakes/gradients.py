"""The gradient for x."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch

MISTAKES: Final = Bank()
_DX: Final = {
    "step": "result", "formula": "layernorm", "line": "dx", "test": "gradient-x"
}  # fmt: skip
_SUM: Final = {**_DX, "step": "jacobian", "line": "projection"}


@MISTAKES.variant(
    "mean-path-missing",
    "dx lacks the path through the mean: every x of the row moves the mean, so subtract "
    "mean(dout*gamma).",
    **_DX,
)
class MeanPathMissing(LayerNormScratch):
    def mean_gradient(self, d: Array) -> Array:
        return np.zeros_like(self.rstd)


@MISTAKES.variant(
    "second-term-missing",
    "dx lacks the path through the variance: subtract xhat * mean(dout*gamma*xhat).",
    **_SUM,
)
class VariancePathMissing(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return np.zeros_like(self.rstd)


@MISTAKES.variant(
    "both-paths-missing",
    "dx holds only the direct term. Mean and variance depend on every x of the row too: subtract "
    "mean(g) and xhat * mean(g*xhat), with g = dout*gamma.",
    **_DX,
    covers=("mean-path-missing", "second-term-missing"),
)
class BothPathsMissing(MeanPathMissing, VariancePathMissing):
    pass


@MISTAKES.variant(
    "second-term-sign",
    "The term with xhat in dx is added. It is subtracted, as the mean is.",
    **_SUM,
)
class VariancePathAdded(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return -super().projection(d)


@MISTAKES.variant(
    "mean-path-sign",
    "The mean of dout*gamma in dx is added. It is subtracted: a larger x makes the mean larger and "
    "every y smaller.",
    **_DX,
)
class MeanPathAdded(LayerNormScratch):
    def mean_gradient(self, d: Array) -> Array:
        return -super().mean_gradient(d)


@MISTAKES.variant(
    "gradient-sign",
    "dx has the wrong sign, in all its terms. Where gamma is positive, a larger x makes y larger, "
    "so the direct term is + dout*gamma / sqrt(var + eps).",
    **{**_DX, "step": "chain-rule"},
)
class GradientSign(LayerNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return -super().gradient_x(d)


@MISTAKES.variant(
    "second-term-doubled",
    "The last term of dx is twice too large. The derivative of the square brings a factor 2, and "
    "that of the root takes it away: d sqrt(u) = du / (2 sqrt(u)).",
    **_SUM,
)
class VariancePathDoubled(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return 2.0 * super().projection(d)


@MISTAKES.variant(
    "second-term-halved",
    "The last term of dx is half as large as it should be. The derivative of the root brings a "
    "factor 1/2, and that of the square takes it away.",
    **_SUM,
)
class VariancePathHalved(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return 0.5 * super().projection(d)


@MISTAKES.variant(
    "second-term-without-normalizing",
    "The last term of dx uses x - mean in place of xhat once. It needs xhat, which is divided by "
    "the deviation too, in the mean and before it.",
    **_SUM,
)
class SecondTermFromCentredOnce(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return super().projection(d) / self.rstd


@MISTAKES.variant(
    "second-term-without-normalizing",
    "The last term of dx uses x - mean in place of xhat. It needs xhat, which is divided by the "
    "deviation too, in the mean and before it.",
    **_SUM,
)
class SecondTermFromCentred(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return super().projection(d) / self.rstd**2


@MISTAKES.variant(
    "second-term-without-normalizing",
    "The mean in the last term of dx uses x. It needs xhat, the normalized x.",
    **_SUM,
)
class SecondTermFromX(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.x, axis=-1, keepdims=True)


@MISTAKES.variant(
    "gamma-twice-in-dx",
    "gamma is in dx twice over. It is applied to dout once; what follows uses dout * gamma as it "
    "is.",
    **{**_DX, "step": "chain-rule"},
)
class GammaTwiceInDx(LayerNormScratch):
    def weighted(self, d: Array) -> Array:
        return d * self.gamma.astype(d.dtype) ** 2


@MISTAKES.variant(
    "gamma-twice-in-sum",
    "gamma is in the last mean of dx twice over: it is mean(dout * gamma * xhat).",
    **_SUM,
)
class GammaTwiceInSum(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.gamma * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "gamma-missing-in-dx",
    "gamma is missing in dx: the gradient that reaches xhat is dout * gamma.",
    **{**_DX, "step": "chain-rule"},
)
class GammaMissingInDx(LayerNormScratch):
    def weighted(self, d: Array) -> Array:
        return d


@MISTAKES.variant(
    "gamma-missing-in-direct-term",
    "gamma is missing in the first term of dx: it is dout * gamma / sqrt(var + eps).",
    **{**_DX, "step": "chain-rule"},
)
class GammaMissingInDirectTerm(LayerNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return (d - self.mean_gradient(d) - self.xhat * self.projection(d)) * self.rstd


@MISTAKES.variant(
    "gamma-last-in-dx",
    "gamma multiplies dx at the end. It belongs to dout, before the means: they are means of "
    "dout * gamma and of dout * gamma * xhat.",
    **{**_DX, "step": "chain-rule"},
)
class GammaLastInDx(LayerNormScratch):
    def gradient_x(self, d: Array) -> Array:
        mean = np.mean(d, axis=-1, keepdims=True)
        projection = np.mean(d * self.xhat, axis=-1, keepdims=True)
        return (d - mean - self.xhat * projection) * self.rstd * self.gamma


@MISTAKES.variant(
    "gamma-missing-in-mean",
    "gamma is missing in the first mean of dx: it is mean(dout * gamma).",
    **_DX,
)
class GammaMissingInMean(LayerNormScratch):
    def mean_gradient(self, d: Array) -> Array:
        return np.mean(d, axis=-1, keepdims=True)


@MISTAKES.variant(
    "gamma-missing-in-sum",
    "gamma is missing in the last mean of dx: it is mean(dout * gamma * xhat).",
    **_SUM,
)
class GammaMissingInSum(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(d * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "one-over-d-missing",
    "1/D is missing in dx: both corrections are means over the row, not sums.",
    **_SUM,
)
class OneOverDMissing(LayerNormScratch):
    def mean_gradient(self, d: Array) -> Array:
        return np.sum(self.weighted(d), axis=-1, keepdims=True)

    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "one-over-d-missing",
    "1/D is missing in the last term of dx: it is a mean over the row, not a sum.",
    **_SUM,
)
class OneOverDMissingInProjection(LayerNormScratch):
    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "rstd-missing-in-dx",
    "dx is not divided by the deviation: the outer factor 1 / sqrt(var + eps) is missing.",
    **_DX,
)
class OuterFactorMissing(LayerNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.weighted(d) - self.mean_gradient(d) - self.xhat * self.projection(d)


@MISTAKES.variant(
    "deviation-multiplied-in-dx",
    "dx is multiplied by the deviation. It is divided by it: y is (x - mean) / sqrt(var + eps), so "
    "a larger deviation makes every gradient smaller.",
    **_DX,
)
class DeviationMultipliedInDx(LayerNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return super().gradient_x(d) / self.rstd**2


@MISTAKES.variant(
    "projection-over-batch",
    "The sums in dx run over the wrong axis. They belong to one row: axis=-1, keepdims=True.",
    **_SUM,
)
class SumsOverBatch(LayerNormScratch):
    def mean_gradient(self, d: Array) -> Array:
        return np.mean(self.weighted(d), axis=0, keepdims=True)

    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, axis=0, keepdims=True)
