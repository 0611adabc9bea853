"""Dtypes, state, and promises to the caller."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

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


# --- state ---------------------------------------------------------------------------------------
@MISTAKES.variant(
    "shared-state",
    "Instances share what forward keeps, for example in a class attribute or a global. Keep it "
    "on self.",
    step="result",
    formula="rmsnorm",
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
    "shared-state",
    "Instances share rstd, for example as an attribute of the class, so backward may divide by "
    "another instance's. Keep it on self.",
    step="result",
    formula="rmsnorm",
    line="rstd",
    test="state",
)
class SharedRstd(RMSNormScratch):
    shared: dict[str, Any] = {}

    def forward(self, x: Array) -> Array:
        y = super().forward(x)
        self.shared["rstd"] = self.rstd
        return y

    def backward(self, dout: Array) -> Array:
        self.rstd = self.shared["rstd"]
        return super().backward(dout)


@MISTAKES.variant(
    "shared-state",
    "Instances share rstd, for example as an attribute of the class, so backward may normalize and "
    "divide by another instance's. Keep it on self.",
    step="result",
    formula="rmsnorm",
    line="rstd",
    test="state",
)
class SharedRstdForXhat(SharedRstd):
    def backward(self, dout: Array) -> Array:
        self.xhat = self.x * self.shared["rstd"]
        return super().backward(dout)


@MISTAKES.variant(
    "first-forward-kept",
    "backward uses what the first forward kept. It belongs to the most recent forward.",
    step="result",
    formula="rmsnorm",
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
    "x-modified",
    "x is changed in place, for example by x /= rms. The caller still needs it: work on a copy.",
    sign="x-modified",
    step="definition",
    formula="rmsnorm",
    line="xhat",
    test="shapes",
)
MISTAKES.sign(
    "dout-modified",
    "dout is changed in place, for example by dout *= gamma. The caller still needs it, and a "
    "broadcast dout is read-only: write dout * gamma.",
    sign="dout-modified",
    step="chain-rule",
    formula="rmsnorm",
    line="dx",
    test="shapes",
)
MISTAKES.sign(
    "gamma-modified",
    "The array that gamma was set to is changed in place. It belongs to whoever set it: make a "
    "new array.",
    sign="gamma-modified",
    step="definition",
    formula="rmsnorm",
    line="scale",
    test="shapes",
)
MISTAKES.sign(
    "output-reused",
    "The same array is returned by several calls, so that an earlier result changes later. "
    "Return a new array each time.",
    sign="output-reused",
    step="definition",
    formula="rmsnorm",
    line="scale",
    test="state",
)
MISTAKES.sign(
    "not-repeatable",
    "The same input gives different results when it is given again: they depend on chance or on "
    "earlier calls. Draw no random numbers, and keep nothing from one forward to the next.",
    sign="not-repeatable",
    step="definition",
    formula="rmsnorm",
    line="rstd",
    test="state",
)
