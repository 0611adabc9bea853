"""Softmax and cross-entropy in NumPy: the trusted reference that submissions are compared with.

For one row x of D logits, y[j] is the cross-entropy of softmax(x) if the row's class is j:

    p = exp(x - m) / S        m = max(x)        S = sum(exp(x - m))
    y = -log(p) = log(S) - (x - m)

The shift by m changes nothing in exact arithmetic and keeps exp from overflowing (Blanchard, Higham
and Higham, "Accurately computing the log-sum-exp and softmax functions", IMA Journal of Numerical
Analysis 41, 2021). With the gradient d of y,

    dx = p * sum(d) - d

which is p minus the one-hot target where d is that target. Each step is a method of its own: the
known mistakes in `mistakes` replace one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.accumulate import Array, working_dtype


class SoftmaxCrossEntropyScratch:
    """The losses of all classes, and the gradient of their weighted sum; see the module."""

    def forward(self, x: Array) -> Array:
        """Return y (..., D) with the dtype of x (..., D).

        x has one to four dimensions and any layout. float16 and float32 are computed in
        float32, float64 in float64. What backward needs is kept in arrays of its own.
        """
        self.dtype = x.dtype
        self.x = np.array(x, dtype=working_dtype(x.dtype), order="C")
        self.shifted = self.shift(self.x)
        self.exponentials = np.exp(self.shifted)
        self.total = self.sum(self.exponentials)
        return self.cast(self.losses())

    def backward(self, dout: Array) -> Array:
        """Return dx (..., D) for dout (..., D), of the most recent forward."""
        d = np.array(dout, dtype=self.x.dtype, order="C")
        return self.cast(self.gradient_x(d))

    # --- steps of forward ---------------------------------------------------------------------
    def shift(self, x: Array) -> Array:
        """Return x - max(x) over the last axis, shape (..., D): nothing above 0."""
        return x - np.max(x, axis=-1, keepdims=True)

    def sum(self, exponentials: Array) -> Array:
        """Return the sum over the last axis, shape (..., 1): at least 1."""
        return np.sum(exponentials, axis=-1, keepdims=True)

    def losses(self) -> Array:
        """Return -log(p) = log(S) - (x - m), shape (..., D)."""
        return np.log(self.total) - self.shifted

    def cast(self, values: Array) -> Array:
        """Return the values in the dtype that x had."""
        return values.astype(self.dtype)

    # --- steps of backward --------------------------------------------------------------------
    def probabilities(self) -> Array:
        """Return p = softmax(x), shape (..., D)."""
        return self.exponentials / self.total

    def weight(self, d: Array) -> Array:
        """Return sum(d) over the last axis, shape (..., 1): how much loss p is charged for."""
        return np.sum(d, axis=-1, keepdims=True)

    def gradient_x(self, d: Array) -> Array:
        """Return dx = p * sum(d) - d, shape (..., D)."""
        return self.probabilities() * self.weight(d) - d


def term_sizes(
    layer: SoftmaxCrossEntropyScratch, dout: Array | None, smallest_normal: float = 0.0
) -> dict[str, NDArray[np.float64]]:
    """Return the size of the terms that make each result: the scale of its rounding error.

    y is the difference of x and the log-sum-exp, whichever way it is computed, and exp turns the
    absolute error of its argument into a relative one of S. p has y's absolute error as its
    relative one. `layer` has run forward in float64, and backward if dout (..., D) is given.
    """
    p = layer.exponentials / layer.total
    spread = np.sum(p * np.abs(layer.shifted), axis=-1, keepdims=True)
    largest = np.abs(np.max(layer.x, axis=-1, keepdims=True))
    size = np.abs(layer.x) + largest + np.log(layer.total) + spread + 1.0
    sizes = {"y": size}
    if dout is not None:
        d = np.abs(dout)
        charged = np.abs(np.sum(dout, axis=-1, keepdims=True))
        sizes["dx"] = p * (size * charged + np.sum(d, axis=-1, keepdims=True)) + d
    return sizes
