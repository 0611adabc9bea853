"""RMSNorm in NumPy: the trusted reference that submissions are compared with.

Formula: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019 (arXiv 1910.07467),
equation 4, with eps inside the root:

    rstd = 1 / sqrt(mean(x**2) + eps)     xhat = x * rstd     y = xhat * gamma

and, for the gradient d of y,

    dgamma = sum over rows of d * xhat
    dx     = (d*gamma - xhat * mean(d*gamma*xhat)) * rstd

The last form is the chapter's result with rms**3 cancelled, so that nothing overflows early.
Each step is a method of its own: the known mistakes in `mistakes.py` replace one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.accumulate import Array, rough_mean, sum_over_rows, working_dtype


class RMSNormScratch:
    """Normalize rows by their root mean square; see the module for the formula."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma: Array = np.ones(dim, dtype=np.float32)
        self.dgamma: Array | None = None

    def forward(self, x: Array) -> Array:
        """Return y (..., D) with the dtype of x (..., D).

        x has one to four dimensions and any layout. float16 and float32 are computed in
        float32, float64 in float64. A copy of x is kept for backward.
        """
        self.dtype = x.dtype
        self.x = self.prepare(np.array(x, dtype=working_dtype(x.dtype), order="C"))
        self.rstd = self.reciprocal_rms(self.x)
        self.xhat = self.x * self.rstd
        return self.cast(self.scale(self.xhat))

    def backward(self, dout: Array) -> Array:
        """Return dx (..., D) for dout (..., D), and set dgamma (D,) with the dtype of gamma.

        Belongs to the most recent forward; dout has the shape of its x.
        """
        d = np.array(dout, dtype=self.x.dtype, order="C")
        self.dgamma = self.gradient_gamma(d).astype(self.gamma.dtype)
        return self.cast(self.gradient_x(d))

    # --- steps of forward ---------------------------------------------------------------------
    def prepare(self, x: Array) -> Array:
        """Return what is normalized: RMSNorm takes x as it is, without centring."""
        return x

    def mean_square(self, x: Array) -> Array:
        """Return mean(x**2) over the last axis, shape (..., 1)."""
        return np.mean(x * x, axis=-1, keepdims=True)

    def reciprocal_rms(self, x: Array) -> Array:
        """Return 1 / sqrt(mean(x**2) + eps), shape (..., 1)."""
        return 1.0 / np.sqrt(self.mean_square(x) + x.dtype.type(self.eps))

    def scale(self, xhat: Array) -> Array:
        """Return xhat * gamma, shape (..., D)."""
        return xhat * self.gamma.astype(xhat.dtype)

    def cast(self, values: Array) -> Array:
        """Return the values in the dtype that x had."""
        return values.astype(self.dtype)

    # --- steps of backward --------------------------------------------------------------------
    def gradient_gamma(self, d: Array) -> Array:
        """Return dgamma = sum(d * xhat) over all leading axes, shape (D,)."""
        return sum_over_rows(d * self.xhat)

    def weighted(self, d: Array) -> Array:
        """Return d * gamma, the gradient that reaches xhat, shape (..., D)."""
        return d * self.gamma.astype(d.dtype)

    def projection(self, d: Array) -> Array:
        """Return mean(d * gamma * xhat) over the last axis, shape (..., 1)."""
        return np.mean(self.weighted(d) * self.xhat, axis=-1, keepdims=True)

    def gradient_x(self, d: Array) -> Array:
        """Return dx, shape (..., D)."""
        return (self.weighted(d) - self.xhat * self.projection(d)) * self.rstd


def term_sizes(
    layer: RMSNormScratch, dout: Array | None, smallest_normal: float = 0.0
) -> dict[str, NDArray[np.float64]]:
    """Return the size of the terms that make each result: the scale of its rounding error.

    y: |xhat * gamma|; dx: (|d*gamma| + |xhat| * mean|d*gamma*xhat|) * rstd; dgamma: sum|d*xhat|.
    Below the dtype's `smallest_normal` number xhat is rounded as that number is, and gamma
    enlarges the rounding: in y, |xhat| is at least that.
    `layer` has run forward in float64, and backward if dout (..., D) is given.
    """
    gamma, xhat = np.abs(layer.gamma), np.abs(layer.xhat)
    sizes = {"y": np.maximum(xhat, smallest_normal) * gamma}
    if dout is not None:
        d = np.abs(dout)
        weighted = d * gamma
        sizes["dx"] = (weighted + xhat * rough_mean(weighted, xhat)) * layer.rstd
        sizes["dgamma"] = sum_over_rows(d * xhat)
    return sizes
