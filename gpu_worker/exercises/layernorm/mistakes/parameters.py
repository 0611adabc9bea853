"""The gradients for gamma and beta."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.accumulate import Array, sum_over_rows
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch

MISTAKES: Final = Bank()
_PARAMETERS: Final = {
    "step": "dgamma", "formula": "layernorm", "line": "dgamma", "test": "gradient-gamma"
}  # fmt: skip


@MISTAKES.variant(
    "dgamma-axis-zero",
    "dgamma and dbeta are summed over the first axis only. Sum over all axes but the last: "
    "axis=tuple(range(x.ndim - 1)).",
    **{**_PARAMETERS, "test": "shapes"},
)
class ParametersOverFirstAxis(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.sum(d * self.xhat, axis=0)

    def gradient_beta(self, d: Array) -> Array:
        return np.sum(d, axis=0)


@MISTAKES.variant(
    "dgamma-axis-zero",
    "dgamma is summed over the first axis only. Sum over all axes but the last: "
    "axis=tuple(range(x.ndim - 1)).",
    **{**_PARAMETERS, "test": "shapes"},
)
class DgammaOverFirstAxis(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.sum(d * self.xhat, axis=0)


@MISTAKES.variant(
    "dbeta-axis-zero",
    "dbeta is summed over the first axis only. Sum over all axes but the last: "
    "axis=tuple(range(x.ndim - 1)).",
    **{**_PARAMETERS, "test": "shapes"},
)
class DbetaOverFirstAxis(LayerNormScratch):
    def gradient_beta(self, d: Array) -> Array:
        return np.sum(d, axis=0)


@MISTAKES.variant(
    "dgamma-not-summed",
    "dgamma is not summed over the rows. gamma is shared by all rows, so their gradients add up.",
    **_PARAMETERS,
)
class DgammaNotSummed(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return d * self.xhat


@MISTAKES.variant(
    "dbeta-not-summed",
    "dbeta is not summed over the rows. beta is shared by all rows, so their gradients add up.",
    **_PARAMETERS,
)
class DbetaNotSummed(LayerNormScratch):
    def gradient_beta(self, d: Array) -> Array:
        return d


@MISTAKES.variant(
    "both-gradients-not-summed",
    "dgamma and dbeta are not summed over the rows. gamma and beta are shared by all rows, so the "
    "gradients of the rows add up.",
    **_PARAMETERS,
    covers=("dgamma-not-summed", "dbeta-not-summed"),
)
class ParametersNotSummed(DgammaNotSummed, DbetaNotSummed):
    pass


@MISTAKES.variant(
    "gradients-swapped",
    "dgamma and dbeta are swapped. gamma multiplies xhat, so dgamma is the sum of dout * xhat; "
    "beta is added, so dbeta is the sum of dout.",
    **_PARAMETERS,
)
class GradientsSwapped(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return super().gradient_beta(d)

    def gradient_beta(self, d: Array) -> Array:
        return super().gradient_gamma(d)


@MISTAKES.variant(
    "dgamma-mean",
    "dgamma is averaged over the rows. It is their sum: whether to average is up to the loss.",
    **_PARAMETERS,
)
class DgammaAveraged(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.mean(d * self.xhat, axis=tuple(range(d.ndim - 1)))


@MISTAKES.variant(
    "dbeta-mean",
    "dbeta is averaged over the rows. It is their sum: whether to average is up to the loss.",
    **_PARAMETERS,
)
class DbetaAveraged(LayerNormScratch):
    def gradient_beta(self, d: Array) -> Array:
        return np.mean(d, axis=tuple(range(d.ndim - 1)))


@MISTAKES.variant(
    "both-gradients-mean",
    "dgamma and dbeta are averaged over the rows. They are sums: whether to average is up to the "
    "loss.",
    **_PARAMETERS,
    covers=("dgamma-mean", "dbeta-mean"),
)
class ParametersAveraged(DgammaAveraged, DbetaAveraged):
    pass


@MISTAKES.variant(
    "dgamma-without-normalizing",
    "dgamma uses x. It needs xhat, the normalized x: that is what gamma multiplies.",
    **_PARAMETERS,
)
class DgammaFromX(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return sum_over_rows(d * self.x)


@MISTAKES.variant(
    "dgamma-without-normalizing",
    "dgamma uses x - mean. It needs xhat, which is divided by the deviation too.",
    **_PARAMETERS,
)
class DgammaFromCentred(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return sum_over_rows(d * self.centred)


@MISTAKES.variant(
    "dgamma-with-beta",
    "dgamma uses the output y. It is the sum of dout * xhat, without gamma and beta.",
    **_PARAMETERS,
)
class DgammaFromY(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return sum_over_rows(d * (self.xhat * self.gamma + self.beta))


@MISTAKES.variant(
    "dbeta-with-gamma",
    "dbeta is multiplied by gamma. beta is added after gamma, so its gradient is the sum of dout.",
    **_PARAMETERS,
)
class DbetaWithGamma(LayerNormScratch):
    def gradient_beta(self, d: Array) -> Array:
        return sum_over_rows(d * self.gamma)


@MISTAKES.variant(
    "dgamma-keepdims",
    "dgamma keeps the summed axes. Its shape is that of gamma, (D,).",
    **_PARAMETERS,
)
class DgammaKeepsAxes(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        return np.sum(d * self.xhat, axis=tuple(range(d.ndim - 1)), keepdims=True)


@MISTAKES.variant(
    "dbeta-keepdims",
    "dbeta keeps the summed axes. Its shape is that of beta, (D,).",
    **_PARAMETERS,
)
class DbetaKeepsAxes(LayerNormScratch):
    def gradient_beta(self, d: Array) -> Array:
        return np.sum(d, axis=tuple(range(d.ndim - 1)), keepdims=True)


@MISTAKES.variant(
    "both-gradients-keepdims",
    "dgamma and dbeta keep the summed axes. Their shape is that of gamma and beta, (D,).",
    **_PARAMETERS,
    covers=("dgamma-keepdims", "dbeta-keepdims"),
)
class ParametersKeepAxes(DgammaKeepsAxes, DbetaKeepsAxes):
    pass


@MISTAKES.variant(
    "dgamma-accumulates",
    "dgamma and dbeta add up over calls of backward. Each call sets them anew.",
    **{**_PARAMETERS, "test": "state"},
)
class ParametersAccumulate(LayerNormScratch):
    def gradient_gamma(self, d: Array) -> Array:
        new = super().gradient_gamma(d)
        return new if self.dgamma is None else self.dgamma + new

    def gradient_beta(self, d: Array) -> Array:
        new = super().gradient_beta(d)
        return new if self.dbeta is None else self.dbeta + new


@MISTAKES.variant(
    "dgamma-accumulates",
    "dgamma and dbeta add up over calls of backward. Each call sets them anew.",
    native=True,
    **{**_PARAMETERS, "test": "state"},
)
class RoundedParametersAccumulate(LayerNormScratch):
    """Each call's sum is rounded to gamma's dtype first: after many calls that makes units."""

    def gradient_gamma(self, d: Array) -> Array:
        new = super().gradient_gamma(d).astype(self.gamma.dtype)
        return new if self.dgamma is None else self.dgamma + new

    def gradient_beta(self, d: Array) -> Array:
        new = super().gradient_beta(d).astype(self.beta.dtype)
        return new if self.dbeta is None else self.dbeta + new
