"""Known mistakes in RMSNorm, each the reference with one step replaced."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gpu_worker.exercises.accumulate import Array, sum_over_rows
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()
_RMS: Final = {"step": "definition", "formula": "rmsnorm", "line": "rstd", "test": "forward"}
_DX: Final = {"step": "result", "formula": "rmsnorm", "line": "dx", "test": "gradient-x"}
_DGAMMA: Final = {
    "step": "dgamma", "formula": "rmsnorm", "line": "dgamma", "test": "gradient-gamma"
}  # fmt: skip


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
    "root-missing",
    "The row is divided by the mean square itself; the square root is missing.",
    **_RMS,
)
class RootMissing(RMSNormScratch):
    def reciprocal_rms(self, x: Array) -> Array:
        return 1.0 / (self.mean_square(x) + self.eps)


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
    "batch-axis-mean",
    "The mean runs over the first axis, as in batch normalization. RMSNorm normalizes over the "
    "last axis: each row by itself.",
    **{**_RMS, "line": "mean-square"},
)
class MeanOverBatch(RMSNormScratch):
    def mean_square(self, x: Array) -> Array:
        return np.mean(x * x, axis=0, keepdims=True)


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
    "one-over-d-missing",
    "1/D is missing in the second term of dx: it comes from the mean inside RMS.",
    **{**_DX, "step": "rms-gradient", "line": "projection"},
)
class OneOverDMissing(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return np.sum(self.weighted(d) * self.xhat, axis=-1, keepdims=True)


@MISTAKES.variant(
    "rms-squared",
    "The second term of dx is divided by RMS**2. It is RMS**3: twice from the quotient, once "
    "from the derivative of RMS.",
    **{**_DX, "step": "jacobian"},
)
class RmsSquaredForCubed(RMSNormScratch):
    def projection(self, d: Array) -> Array:
        return super().projection(d) / self.rstd


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


# --- dtypes --------------------------------------------------------------------------------------
@MISTAKES.variant(
    "float64-leak",
    "Results come out as float64. Return them in the dtype of x: result.astype(x.dtype).",
    line="init-gamma",
    formula="rmsnorm",
    test="precision",
    wide_results=True,
)
class Float64Leak(RMSNormScratch):
    pass


@MISTAKES.variant(
    "float16-accumulation",
    "Squares and sums run in float16, where 256**2 is already infinite. Convert x to float32 "
    "before squaring.",
    formula="rmsnorm",
    line="mean-square",
    test="precision",
    native=True,
)
class Float16Accumulation(RMSNormScratch):
    def forward(self, x: Array) -> Array:
        self.dtype, self.x = x.dtype, x
        self.rstd = (1.0 / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + self.eps)).astype(
            x.dtype
        )
        self.xhat = self.x * self.rstd
        return self.xhat * self.gamma

    def backward(self, dout: Array) -> Array:
        self.dgamma = sum_over_rows(dout * self.xhat)
        return self.gradient_x(dout)


@MISTAKES.variant(
    "float16-squares",
    "x is squared in float16, where 256**2 is already infinite. Convert x to float32 first.",
    formula="rmsnorm",
    line="mean-square",
    test="precision",
    native=True,
)
class Float16Squares(RMSNormScratch):
    def forward(self, x: Array) -> Array:
        self.narrow = x
        return super().forward(x)

    def mean_square(self, x: Array) -> Array:
        return np.mean(self.narrow**2, axis=-1, keepdims=True, dtype=x.dtype)


# --- state ---------------------------------------------------------------------------------------
@MISTAKES.variant(
    "shared-state",
    "Instances share what forward keeps, for example in a class attribute or a global. Keep it "
    "on self.",
    line="xhat",
    test="state",
)
class SharedState(RMSNormScratch):
    shared: dict[str, Any] = {}

    def forward(self, x: Array) -> Array:
        y = super().forward(x)
        self.shared.update(dtype=self.dtype, x=self.x, rstd=self.rstd, xhat=self.xhat)
        return y

    def backward(self, dout: Array) -> Array:
        vars(self).update(self.shared)
        return super().backward(dout)


@MISTAKES.variant(
    "first-forward-kept",
    "backward uses what the first forward kept. It belongs to the most recent forward.",
    line="xhat",
    test="state",
)
class FirstForwardKept(RMSNormScratch):
    first: dict[str, Any] | None = None

    def forward(self, x: Array) -> Array:
        y = super().forward(x)
        if self.first is None:
            self.first = {"x": self.x, "rstd": self.rstd, "xhat": self.xhat}
        return y

    def backward(self, dout: Array) -> Array:
        vars(self).update(self.first or {})
        return super().backward(dout)


MISTAKES.sign(
    "input-modified",
    "An input is changed in place, for example by x /= rms. The caller still needs it: work on "
    "a copy.",
    sign="input-modified",
    line="xhat",
    test="shapes",
)
MISTAKES.sign(
    "output-reused",
    "The same array is returned by several calls, so that an earlier result changes later. "
    "Return a new array each time.",
    sign="output-reused",
    line="scale",
    test="state",
)
MISTAKES.sign(
    "not-repeatable",
    "The same input gives different results when it is given again.",
    sign="not-repeatable",
    test="state",
)
