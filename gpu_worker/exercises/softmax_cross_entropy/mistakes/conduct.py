"""Dtypes, state, and promises to the caller."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gpu_worker.exercises.accumulate import Array
from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.softmax_cross_entropy.reference_numpy import SoftmaxCrossEntropyScratch

MISTAKES: Final = Bank()
_KEPT: Final = ("dtype", "x", "shifted", "exponentials", "total")


# --- dtypes --------------------------------------------------------------------------------------
@MISTAKES.variant(
    "float64-leak",
    "Results come out as float64. Return them in the dtype of x: result.astype(x.dtype).",
    step="definition",
    formula="softmax",
    line="cast",
    test="precision",
    wide_results=True,
)
class Float64Leak(SoftmaxCrossEntropyScratch):
    pass


@MISTAKES.variant(
    "float16-running-sum",
    "The exponentials are added one after the other in float16. Once the sum is a few hundred, it "
    "no longer notices a number below one tenth: convert x to float32 first.",
    step="definition",
    formula="softmax",
    line="total",
    test="precision",
    native=True,
)
class Float16RunningSum(SoftmaxCrossEntropyScratch):
    def sum(self, exponentials: Array) -> Array:
        narrow = exponentials.astype(self.dtype)
        return np.cumsum(narrow, axis=-1)[..., -1:].astype(exponentials.dtype)


# --- state ---------------------------------------------------------------------------------------
@MISTAKES.variant(
    "shared-state",
    "Instances share what forward keeps, for example in a class attribute or a global. Keep it "
    "on self.",
    step="result",
    formula="gradient",
    line="probabilities",
    test="state",
)
class SharedState(SoftmaxCrossEntropyScratch):
    shared: dict[str, Any] = {}

    def forward(self, x: Array) -> Array:
        y = super().forward(x)
        self.shared.update({name: getattr(self, name) for name in _KEPT})
        return y

    def backward(self, dout: Array) -> Array:
        vars(self).update(self.shared)
        return super().backward(dout)


@MISTAKES.variant(
    "first-forward-kept",
    "backward uses what the first forward kept. It belongs to the most recent forward.",
    step="result",
    formula="gradient",
    line="probabilities",
    test="state",
)
class FirstForwardKept(SoftmaxCrossEntropyScratch):
    first: dict[str, Any] | None = None

    def forward(self, x: Array) -> Array:
        y = super().forward(x)
        if self.first is None:
            self.first = {name: getattr(self, name) for name in _KEPT}
        return y

    def backward(self, dout: Array) -> Array:
        vars(self).update(self.first or {})
        return super().backward(dout)


MISTAKES.sign(
    "x-modified",
    "x is changed in place, for example by x -= x.max(). The caller still needs it: work on a "
    "copy.",
    sign="x-modified",
    step="definition",
    formula="shift-invariance",
    line="shift",
    test="shapes",
)
MISTAKES.sign(
    "dout-modified",
    "dout is changed in place, for example by dout *= p. The caller still needs it, and a "
    "broadcast dout is read-only: make a new array.",
    sign="dout-modified",
    step="result",
    formula="gradient",
    line="probabilities",
    test="shapes",
)
MISTAKES.sign(
    "output-reused",
    "The same array is returned by several calls, so that an earlier result changes later. "
    "Return a new array each time.",
    sign="output-reused",
    step="loss",
    formula="cross-entropy",
    line="losses",
    test="state",
)
MISTAKES.sign(
    "not-repeatable",
    "The same input gives different results when it is given again: they depend on chance or on "
    "earlier calls. Draw no random numbers, and keep nothing from one forward to the next.",
    sign="not-repeatable",
    step="loss",
    formula="cross-entropy",
    line="losses",
    test="state",
)
