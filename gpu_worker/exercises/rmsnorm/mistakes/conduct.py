"""Dtypes, state, and promises to the caller."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises import promises
from gpu_worker.exercises.accumulate import Array, sum_over_rows
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()


# --- dtypes --------------------------------------------------------------------------------------
@MISTAKES.variant(
    "float64-leak",
    "Results come out as float64. Return them in the dtype of x: result.astype(x.dtype).",
    step="definition",
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
    step="definition",
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
    "float16-accumulation",
    "Squares and sums run in float16, where 256**2 is already infinite. Convert x to float32 "
    "before squaring.",
    step="definition",
    formula="rmsnorm",
    line="mean-square",
    test="precision",
    native=True,
)
class Float16Throughout(Float16Accumulation):
    """The mean is asked for in float16, where `mean` alone adds up in float32, and gamma is too."""

    def forward(self, x: Array) -> Array:
        self.dtype, self.x = x.dtype, x
        mean_square = np.mean(x**2, axis=-1, keepdims=True, dtype=x.dtype)
        self.rstd = (1.0 / np.sqrt(mean_square + self.eps)).astype(x.dtype)
        self.xhat = self.x * self.rstd
        return self.scale(self.xhat)


@MISTAKES.variant(
    "float16-accumulation",
    "x is squared in float16, where 256**2 is already infinite. Convert x to float32 first.",
    step="definition",
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


# --- state, and promises to the caller -----------------------------------------------------------
promises.shared_state(
    MISTAKES,
    RMSNormScratch,
    ("dtype", "x", "rstd", "xhat"),
    step="result",
    formula="rmsnorm",
    line="xhat",
    test="state",
)
promises.shared_rstd(
    MISTAKES,
    RMSNormScratch,
    "x",
    step="result",
    formula="rmsnorm",
    line="rstd",
    test="state",
)
promises.first_forward_kept(
    MISTAKES,
    RMSNormScratch,
    ("x", "rstd", "xhat"),
    step="result",
    formula="rmsnorm",
    line="xhat",
    test="state",
)
promises.x_modified(
    MISTAKES,
    "x /= rms",
    step="definition",
    formula="rmsnorm",
    line="xhat",
    test="shapes",
)
promises.dout_modified(
    MISTAKES,
    "dout *= gamma",
    "write dout * gamma",
    step="chain-rule",
    formula="rmsnorm",
    line="dx",
    test="shapes",
)
promises.parameter_modified(
    MISTAKES, "gamma", step="definition", formula="rmsnorm", line="scale", test="shapes"
)
promises.output_reused(MISTAKES, step="definition", formula="rmsnorm", line="scale", test="state")
promises.not_repeatable(MISTAKES, step="definition", formula="rmsnorm", line="rstd", test="state")
