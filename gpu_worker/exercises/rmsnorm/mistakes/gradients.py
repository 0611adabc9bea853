"""The gradients for x and for gamma."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array, sum_over_rows
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()
_DX: Final = {"step": "result", "formula": "rmsnorm", "line": "dx", "test": "gradient-x"}
_DGAMMA: Final = {
    "step": "dgamma", "formula": "rmsnorm", "line": "dgamma", "test": "gradient-gamma"
}  # fmt: skip


# --- the gradient for x --------------------------------------------------------------------------
@MISTAKES.variant(
    "second-term-missing",
    "dx holds only the direct term. RMS depends on every x of the row too: subtract "
    "xhat * mean(dout*gamma*xhat).",
    **{**_DX, "step": "jacobian", "line": "projection"},
)
class SecondTermMissing(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.zeros_like(self.rstd)


@MISTAKES.variant(
    "second-term-sign",
    "The second term of dx is added. It is subtracted: a larger x makes RMS larger and y smaller.",
    **{**_DX, "step": "jacobian"},
)
class SecondTermAdded(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return -super().projection(d)


@MISTAKES.variant(
    "gamma-missing-in-sum",
    "gamma is missing in the sum of dx: the sum runs over dout * gamma * x.",
    **{**_DX, "line": "projection"},
)
class GammaMissingInSum(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(d * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "gamma-missing-in-dx",
    "gamma is missing in dx altogether: the gradient that reaches xhat is dout * gamma.",
    **{**_DX, "step": "chain-rule"},
    covers=("gamma-missing-in-sum", "gamma-missing-in-direct-term"),
)
class GammaMissingInDx(RMSNormScratch):
    def weighted(self, d: Array) -> Array:
        return d


@MISTAKES.variant(
    "gamma-missing-in-direct-term",
    "gamma is missing in the first term of dx: it is dout * gamma / RMS.",
    **{**_DX, "step": "jacobian"},
)
class GammaMissingInDirectTerm(RMSNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return (d - self.xhat * self.projection(d)) * self.rstd


@MISTAKES.variant(
    "gamma-last-in-dx",
    "gamma multiplies dx at the end. It belongs to dout, before the mean: it is a mean of "
    "dout * gamma * xhat.",
    **{**_DX, "step": "jacobian"},
)
class GammaLastInDx(RMSNormScratch):
    def gradient_x(self, d: Array) -> Array:
        projection = np.mean(d * self.xhat, axis=-1, keepdims=True)
        return (d - self.xhat * projection) * self.rstd * self.gamma


@MISTAKES.variant(
    "one-over-d-missing",
    "1/D is missing in the second term of dx: it comes from the mean inside RMS.",
    **{**_DX, "step": "rms-gradient", "line": "projection"},
)
class OneOverDMissing(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "second-term-doubled",
    "The second term of dx is twice too large. The derivative of the square brings a factor 2, and "
    "that of the root takes it away: d sqrt(u) = du / (2 sqrt(u)).",
    **{**_DX, "step": "rms-gradient", "line": "projection"},
)
class SecondTermDoubled(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return 2.0 * super().projection(d)


@MISTAKES.variant(
    "second-term-halved",
    "The second term of dx is half as large as it should be. The derivative of the root brings a "
    "factor 1/2, and that of the square takes it away: d x**2 = 2 x dx.",
    **{**_DX, "step": "rms-gradient", "line": "projection"},
)
class SecondTermHalved(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return 0.5 * super().projection(d)


@MISTAKES.variant(
    "rms-squared",
    "The second term of dx is divided by RMS**2, as it is too where x stands for xhat once. It is "
    "RMS**3: twice from the quotient, once from the derivative of RMS.",
    **{**_DX, "step": "jacobian"},
)
class RmsSquaredForCubed(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return super().projection(d) / self.rstd


@MISTAKES.variant(
    "second-term-without-normalizing",
    "The second term of dx uses x. It needs xhat, the normalized x, in the sum and before it.",
    **{**_DX, "step": "jacobian", "line": "projection"},
)
class SecondTermFromX(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return super().projection(d) / self.rstd**2


@MISTAKES.variant(
    "gamma-twice-in-dx",
    "gamma is in dx twice over. It is applied to dout once; what follows uses dout * gamma as it "
    "is.",
    **{**_DX, "step": "chain-rule"},
)
class GammaTwiceInDx(RMSNormScratch):
    def weighted(self, d: Array) -> Array:
        return d * self.gamma.astype(d.dtype) ** 2


@MISTAKES.variant(
    "gamma-twice-in-sum",
    "gamma is in the sum of dx twice over, as it is where y stands for xhat. The sum runs over "
    "dout * gamma * xhat.",
    **{**_DX, "line": "projection"},
)
class GammaTwiceInSum(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.gamma * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "gradient-sign",
    "dx has the wrong sign, in both terms. Where gamma is positive, a larger x makes y larger, so "
    "the direct term is + dout * gamma / RMS.",
    **{**_DX, "step": "chain-rule"},
)
class GradientSign(RMSNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return -super().gradient_x(d)


@MISTAKES.variant(
    "projection-over-batch",
    "The sum in dx runs over the wrong axis. It belongs to one row: axis=-1, keepdims=True.",
    **{**_DX, "line": "projection"},
)
class ProjectionOverBatch(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.mean(self.weighted(d) * self.xhat, axis=0, keepdims=True)


@MISTAKES.variant(
    "rstd-missing-in-dx",
    "dx is not divided by RMS: the outer factor 1 / RMS is missing.",
    **_DX,
)
class OuterFactorMissing(RMSNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return self.weighted(d) - self.xhat * self.projection(d)


@MISTAKES.variant(
    "rms-multiplied-in-dx",
    "dx is multiplied by RMS. It is divided by it: y is x / RMS, so a larger RMS makes every "
    "gradient smaller.",
    **_DX,
)
class RmsMultipliedInDx(RMSNormScratch):
    def gradient_x(self, d: Array) -> Array:
        return super().gradient_x(d) / self.rstd**2


# --- the gradient for gamma ----------------------------------------------------------------------
@MISTAKES.variant(
    "dgamma-axis-zero",
    "dgamma is summed over the first axis only. Sum over all axes but the last: "
    "axis=tuple(range(x.ndim - 1)).",
    **{**_DGAMMA, "test": "shapes"},
)
class DgammaOverFirstAxis(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.sum(d * self.xhat, axis=0)


@MISTAKES.variant(
    "dgamma-not-summed",
    "dgamma is not summed over the rows. gamma is shared by all rows, so their gradients add up.",
    **_DGAMMA,
)
class DgammaNotSummed(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return d * self.xhat


@MISTAKES.variant(
    "dgamma-mean",
    "dgamma is averaged over the rows. It is their sum: whether to average is up to the loss.",
    **_DGAMMA,
)
class DgammaAveraged(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.mean(d * self.xhat, axis=tuple(range(d.ndim - 1)))


@MISTAKES.variant(
    "dgamma-without-normalizing",
    "dgamma uses x. It needs xhat, the normalized x: that is what gamma multiplies.",
    **_DGAMMA,
)
class DgammaFromX(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return sum_over_rows(d * self.x)


@MISTAKES.variant(
    "dgamma-with-gamma",
    "dgamma uses the output y, so gamma is in it twice over. It is the sum of dout * xhat.",
    **_DGAMMA,
)
class DgammaFromY(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return sum_over_rows(d * self.xhat * self.gamma)


@MISTAKES.variant(
    "dgamma-keepdims",
    "dgamma keeps the summed axes. Its shape is that of gamma, (D,).",
    **_DGAMMA,
)
class DgammaKeepsAxes(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1)), keepdims=True)


@MISTAKES.variant(
    "dgamma-accumulates",
    "dgamma adds up over calls of backward. Each call sets it anew.",
    **{**_DGAMMA, "test": "state"},
)
class DgammaAccumulates(RMSNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        new = super().gradient_gamma(d)
        return new if self.dgamma is None else self.dgamma + new


@MISTAKES.variant(
    "dgamma-accumulates",
    "dgamma adds up over calls of backward. Each call sets it anew.",
    native=True,
    **{**_DGAMMA, "test": "state"},
)
class RoundedDgammaAccumulates(RMSNormScratch):
    """Each call's sum is rounded to gamma's dtype first: after many calls that makes units."""

    def gradient_gamma(self, d: Array) -> Array:
        new = super().gradient_gamma(d).astype(self.gamma.dtype)
        return new if self.dgamma is None else self.dgamma + new
