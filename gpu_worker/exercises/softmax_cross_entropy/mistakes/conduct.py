"""Dtypes, state, and promises to the caller."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises import promises
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


# --- state, and promises to the caller -----------------------------------------------------------
promises.shared_state(
    MISTAKES,
    SoftmaxCrossEntropyScratch,
    _KEPT,
    step="result",
    formula="gradient",
    line="probabilities",
    test="state",
)
promises.first_forward_kept(
    MISTAKES,
    SoftmaxCrossEntropyScratch,
    _KEPT,
    step="result",
    formula="gradient",
    line="probabilities",
    test="state",
)
promises.x_modified(
    MISTAKES,
    "x -= x.max()",
    step="definition",
    formula="shift-invariance",
    line="shift",
    test="shapes",
)
promises.dout_modified(
    MISTAKES,
    "dout *= p",
    "make a new array",
    step="result",
    formula="gradient",
    line="probabilities",
    test="shapes",
)
promises.output_reused(MISTAKES, step="loss", formula="cross-entropy", line="losses", test="state")
promises.not_repeatable(MISTAKES, step="loss", formula="cross-entropy", line="losses", test="state")
