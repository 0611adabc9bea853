"""Dtypes, state, and promises to the caller."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from gpu_worker.exercises import promises
from gpu_worker.exercises.accumulate import Array, sum_over_rows
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch

MISTAKES: Final = Bank()


# --- dtypes --------------------------------------------------------------------------------------
@MISTAKES.variant(
    "float64-leak",
    "Results come out as float64. Return them in the dtype of x: result.astype(x.dtype).",
    step="definition",
    formula="layernorm",
    line="init-gamma",
    test="precision",
    wide_results=True,
)
class Float64Leak(LayerNormScratch):
    pass


@MISTAKES.variant(
    "float16-accumulation",
    "Squares and sums run in float16, where 256**2 is already infinite. Convert x to float32 "
    "before squaring.",
    step="definition",
    formula="layernorm",
    line="mean-square",
    test="precision",
    native=True,
)
class Float16Accumulation(LayerNormScratch):
    def forward(self, x: Array) -> Array:
        self.dtype, self.x = x.dtype, x
        self.centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(self.centred**2, axis=-1, keepdims=True)
        self.rstd = (1.0 / np.sqrt(variance + self.eps)).astype(x.dtype)
        self.xhat = self.centred * self.rstd
        return self.xhat * self.gamma + self.beta

    def backward(self, dout: Array) -> Array:
        self.dgamma, self.dbeta = sum_over_rows(dout * self.xhat), sum_over_rows(dout)
        return self.gradient_x(dout)


@MISTAKES.variant(
    "float16-accumulation",
    "Squares and sums run in float16, where 256**2 is already infinite. Convert x to float32 "
    "before squaring.",
    step="definition",
    formula="layernorm",
    line="mean-square",
    test="precision",
    native=True,
)
class Float16Throughout(Float16Accumulation):
    """Means are asked for in float16, where `mean` alone adds up in float32; so are gamma, beta."""

    def forward(self, x: Array) -> Array:
        self.dtype, self.x = x.dtype, x
        self.centred = x - np.mean(x, axis=-1, keepdims=True, dtype=x.dtype)
        variance = np.mean(self.centred**2, axis=-1, keepdims=True, dtype=x.dtype)
        self.rstd = (1.0 / np.sqrt(variance + self.eps)).astype(x.dtype)
        self.xhat = self.centred * self.rstd
        return self.scale_and_shift(self.xhat)


@MISTAKES.variant(
    "one-pass-variance",
    "The variance is computed as mean(x**2) - mean(x)**2. Both are large and nearly equal when "
    "the mean is, and their difference is noise: subtract the mean first, then square.",
    step="definition",
    formula="layernorm",
    line="mean-square",
    test="precision",
    native=True,
)
class OnePassVariance(LayerNormScratch):
    def variance(self, centred: Array) -> Array:
        mean = np.mean(self.x, axis=-1, keepdims=True)
        return np.mean(self.x * self.x, axis=-1, keepdims=True) - mean * mean


_ROUNDINGS: Final = 4.0
"""Of the two means, the square and the difference, beside those of a sum one after the other."""


@functools.cache
def _cancelling(unit: float, sign: float) -> type[LayerNormScratch]:
    class Cancelling(LayerNormScratch):
        """The variance off by as much as the sums' rounding may come to, whatever their order."""

        def variance(self, centred: Array) -> Array:
            square = np.mean(self.x * self.x, axis=-1, keepdims=True)
            exact = super().variance(centred)
            dim = self.x.shape[-1]
            # Equal numbers are all rounded alike, and others up and down.
            times = np.where(exact <= unit * square, dim / 2, np.sqrt(dim))
            return exact + sign * unit * (_ROUNDINGS + times) * square

    return Cancelling


def _noise(dtype: np.dtype[Any]) -> tuple[type, ...]:
    unit = float(np.finfo(np.float64 if dtype == np.float64 else np.float32).eps)
    return _cancelling(unit, 1.0), _cancelling(unit, -1.0)


@MISTAKES.variant(
    "one-pass-variance",
    "The variance is computed in one pass, as mean(x**2) - mean(x)**2 or from sums of x and x**2. "
    "Both are large and nearly equal when the mean is, and their difference is noise: each row is "
    "right up to a factor. Subtract the mean first, then square; or add up (x - x[0]), or "
    "Welford's way.",
    step="definition",
    formula="layernorm",
    line="mean-square",
    test="precision",
    noise=_noise,
    made=OnePassVariance,
)
class OnePassInAnyOrder(LayerNormScratch):
    """In exact arithmetic the variance is the same."""


# --- state, and promises to the caller -----------------------------------------------------------
promises.shared_state(
    MISTAKES,
    LayerNormScratch,
    ("dtype", "x", "centred", "rstd", "xhat"),
    step="result",
    formula="layernorm",
    line="xhat",
    test="state",
)
promises.shared_rstd(
    MISTAKES,
    LayerNormScratch,
    "centred",
    step="result",
    formula="layernorm",
    line="rstd",
    test="state",
)
promises.first_forward_kept(
    MISTAKES,
    LayerNormScratch,
    ("x", "rstd", "xhat"),
    step="result",
    formula="layernorm",
    line="xhat",
    test="state",
)
promises.x_modified(
    MISTAKES,
    "x -= mean",
    step="definition",
    formula="layernorm",
    line="xhat",
    test="shapes",
)
promises.dout_modified(
    MISTAKES,
    "dout *= gamma",
    "write dout * gamma",
    step="chain-rule",
    formula="layernorm",
    line="dx",
    test="shapes",
)
promises.parameter_modified(
    MISTAKES, "gamma", step="definition", formula="layernorm", line="scale", test="shapes"
)
promises.parameter_modified(
    MISTAKES, "beta", step="definition", formula="layernorm", line="scale", test="shapes"
)
promises.output_reused(MISTAKES, step="definition", formula="layernorm", line="scale", test="state")
promises.not_repeatable(MISTAKES, step="definition", formula="layernorm", line="rstd", test="state")
