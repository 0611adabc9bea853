"""Digits that are lost on the way, and the constructor's default."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()
_DIGITS: Final = {
    "step": "definition", "formula": "rmsnorm", "line": "mean-square", "test": "forward"
}  # fmt: skip
_HALF: Final = {**_DIGITS, "exact_as": "float32"}


def rounded(values: Array, dtype: Any) -> Array:
    """Return the values as they come back from a narrower dtype."""
    return values.astype(dtype).astype(values.dtype)


# --- float64 through float32 ---------------------------------------------------------------------
class ComputedInFloat32(RMSNormScratch):
    def forward(self, x: Array) -> Array:
        narrow = x.astype(np.float32) if x.dtype == np.float64 else x
        return super().forward(narrow).astype(x.dtype)

    def backward(self, dout: Array) -> Array:
        return super().backward(dout).astype(dout.dtype)


@MISTAKES.variant(
    "float32-inside",
    "For float64 input about seven digits are right, and the errors go both ways, as if a value on "
    "the way were in float32. float64 input needs float64 arithmetic: widen float16 to float32, "
    "and leave wider types as they are.",
    **_DIGITS,
    exact_as="float32",
    loses_digits=True,
    made=ComputedInFloat32,
)
class Float32Inside(RMSNormScratch):
    pass


# --- float32 and float64 through float16 ---------------------------------------------------------
@MISTAKES.variant(
    "float16-inside",
    "x is rounded to float16 on the way, whatever its type is. float16 has three digits only: "
    "convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfX(RMSNormScratch):
    def forward(self, x: Array) -> Array:
        return super().forward(rounded(x, np.float16))


@MISTAKES.variant(
    "float16-inside",
    "x and dout are rounded to float16 on the way, whatever their type is. float16 has three "
    "digits only: convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfXAndDout(HalfX):
    def backward(self, dout: Array) -> Array:
        return super().backward(rounded(dout, np.float16))


@MISTAKES.variant(
    "float16-inside",
    "x, dout, gamma are rounded to float16 on the way, whatever their type is. float16 has "
    "three digits only: convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfEverything(HalfXAndDout):
    def forward(self, x: Array) -> Array:
        self.gamma = rounded(self.gamma, np.float16)
        return super().forward(x)


@MISTAKES.variant(
    "float16-inside",
    "dout is rounded to float16 on the way, whatever its type is. float16 has three digits only: "
    "convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfDout(RMSNormScratch):
    def backward(self, dout: Array) -> Array:
        return super().backward(rounded(dout, np.float16))


@MISTAKES.variant(
    "float16-inside",
    "gamma is rounded to float16 in forward, whatever its type is. float16 has three digits only: "
    "convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfGammaForward(RMSNormScratch):
    def scale(self, xhat: Array) -> Array:
        kept, self.gamma = self.gamma, rounded(self.gamma, np.float16)
        y = super().scale(xhat)
        self.gamma = kept
        return y


@MISTAKES.variant(
    "float16-inside",
    "gamma is rounded to float16 in backward, whatever its type is. float16 has three digits only: "
    "convert to a wider type, never to a narrower one.",
    **{**_HALF, "step": "result", "line": "dx", "test": "gradient-x"},
)
class HalfGammaBackward(RMSNormScratch):
    def weighted(self, d: Array) -> Array:
        return d * rounded(self.gamma, np.float16).astype(d.dtype)


@MISTAKES.variant(
    "float16-inside",
    "gamma is rounded to float16 on the way, whatever its type is. float16 has three digits only: "
    "convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfGamma(HalfGammaForward, HalfGammaBackward):
    pass


@MISTAKES.variant(
    "float16-inside",
    "The normalized rows are rounded to float16 before gamma scales them, whatever the type of x "
    "is. float16 has three digits only: convert to a wider type, never to a narrower one.",
    **_HALF,
)
class HalfNormalized(RMSNormScratch):
    def scale(self, xhat: Array) -> Array:
        return super().scale(rounded(xhat, np.float16))


class ReturnedThroughHalf(RMSNormScratch):
    def cast(self, values: Array) -> Array:
        return super().cast(values.astype(np.float16))


@MISTAKES.variant(
    "float16-inside",
    "Results hold float16 numbers whatever the type of x is: they were rounded to float16 before "
    "they were returned. Convert the wide result once, to the type of x.",
    **_DIGITS,
    exact_as="float16",
    loses_digits=True,
    on_grid=True,
    made=ReturnedThroughHalf,
)
class HalfResults(RMSNormScratch):
    pass


# --- the constructor -----------------------------------------------------------------------------
def _default_eps(value: float) -> type:
    class DefaultEps(RMSNormScratch):
        def __init__(self, dim: int, eps: float = value) -> None:
            super().__init__(dim, eps)

    return DefaultEps


for _value in (1e-5, 1e-8, 1e-3, 1e-12, 1e-7, 1e-4, 1e-10, 0.0):
    MISTAKES.variant(
        "eps-default",
        f"The constructor's default of eps is {_value:g}. By contract it is 1e-6: "
        "def __init__(self, dim, eps=1e-6).",
        step="definition",
        formula="rmsnorm",
        line="rstd",
        test="public",
    )(_default_eps(_value))
