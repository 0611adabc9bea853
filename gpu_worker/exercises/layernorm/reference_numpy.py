"""LayerNorm in NumPy: the trusted reference that submissions are compared with.

Formula: Ba, Kiros and Hinton, "Layer Normalization", 2016 (arXiv 1607.06450), equation 4:

    mean = mean(x)   rstd = 1 / sqrt(mean((x - mean)**2) + eps)
    xhat = (x - mean) * rstd          y = xhat * gamma + beta

and, for the gradient d of y,

    dbeta = sum over rows of d        dgamma = sum over rows of d * xhat
    dx    = (g - mean(g) - xhat * mean(g * xhat)) * rstd        with g = d * gamma

Each step is a method of its own: the known mistakes in `mistakes.py` replace one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpu_worker.exercises.accumulate import Array, rough_mean, sum_over_rows, working_dtype


class LayerNormScratch:
    """Centre rows and divide them by their standard deviation; see the module."""

    def __init__(self, dim: int, eps: float = 1e-6) -> None:
        self.dim = dim
        self.eps = eps
        self.gamma: Array = np.ones(dim, dtype=np.float32)
        self.beta: Array = np.zeros(dim, dtype=np.float32)
        self.dgamma: Array | None = None
        self.dbeta: Array | None = None

    def forward(self, x: Array) -> Array:
        """Return y (..., D) with the dtype of x (..., D).

        x has one to four dimensions and any layout. float16 and float32 are computed in
        float32, float64 in float64. A copy of x is kept for backward.
        """
        self.dtype = x.dtype
        self.x = np.array(x, dtype=working_dtype(x.dtype), order="C")
        self.centred = self.centre(self.x)
        self.rstd = self.reciprocal_deviation(self.centred)
        self.xhat = self.centred * self.rstd
        return self.cast(self.scale_and_shift(self.xhat))

    def backward(self, dout: Array) -> Array:
        """Return dx (..., D) for dout (..., D); set dgamma and dbeta (D,), as their parameters.

        Belongs to the most recent forward; dout has the shape of its x.
        """
        d = np.array(dout, dtype=self.x.dtype, order="C")
        self.dgamma = self.gradient_gamma(d).astype(self.gamma.dtype)
        self.dbeta = self.gradient_beta(d).astype(self.beta.dtype)
        return self.cast(self.gradient_x(d))

    # --- steps of forward ---------------------------------------------------------------------
    def mean(self, x: Array) -> Array:
        """Return the mean over the last axis, shape (..., 1)."""
        return np.mean(x, axis=-1, keepdims=True)

    def centre(self, x: Array) -> Array:
        """Return x - mean(x), shape (..., D)."""
        return x - self.mean(x)

    def variance(self, centred: Array) -> Array:
        """Return the mean squared deviation over the last axis, shape (..., 1)."""
        return np.mean(centred * centred, axis=-1, keepdims=True)

    def reciprocal_deviation(self, centred: Array) -> Array:
        """Return 1 / sqrt(var + eps), shape (..., 1)."""
        return 1.0 / np.sqrt(self.variance(centred) + centred.dtype.type(self.eps))

    def scale_and_shift(self, xhat: Array) -> Array:
        """Return xhat * gamma + beta, shape (..., D)."""
        return xhat * self.gamma.astype(xhat.dtype) + self.beta.astype(xhat.dtype)

    def cast(self, values: Array) -> Array:
        """Return the values in the dtype that x had."""
        return values.astype(self.dtype)

    # --- steps of backward --------------------------------------------------------------------
    def gradient_gamma(self, d: Array) -> Array:
        """Return dgamma = sum(d * xhat) over all leading axes, shape (D,)."""
        return sum_over_rows(d * self.xhat)

    def gradient_beta(self, d: Array) -> Array:
        """Return dbeta = sum(d) over all leading axes, shape (D,)."""
        return sum_over_rows(d)

    def weighted(self, d: Array) -> Array:
        """Return d * gamma, the gradient that reaches xhat, shape (..., D)."""
        return d * self.gamma.astype(d.dtype)

    def mean_gradient(self, d: Array) -> Array:
        """Return mean(d * gamma) over the last axis, shape (..., 1): the path through the mean."""
        return np.mean(self.weighted(d), axis=-1, keepdims=True)

    def projection(self, d: Array) -> Array:
        """Return mean(d * gamma * xhat) over the last axis, shape (..., 1)."""
        return np.mean(self.weighted(d) * self.xhat, axis=-1, keepdims=True)

    def gradient_x(self, d: Array) -> Array:
        """Return dx, shape (..., D)."""
        inner = self.weighted(d) - self.mean_gradient(d) - self.xhat * self.projection(d)
        return inner * self.rstd


def term_sizes(
    layer: LayerNormScratch, dout: Array | None, smallest_normal: float = 0.0
) -> dict[str, NDArray[np.float64]]:
    """Return the size of the terms that make each result: the scale of its rounding error.

    Centring subtracts numbers of size |x| and |mean|, so xhat carries an error of the size
    S = (|x| + mean|x|) * rstd, and rstd a relative one of K = 1 + mean(|xhat| * S); both reach
    every result. Below the dtype's `smallest_normal` number xhat is rounded as that number is,
    and gamma enlarges the rounding. `layer` has run forward in float64, and backward if
    dout (..., D) is given.
    """
    gamma, beta = np.abs(layer.gamma), np.abs(layer.beta)
    x, xhat, rstd = np.abs(layer.x), np.abs(layer.xhat), layer.rstd
    centring = (x + rough_mean(x)) * rstd
    relative = 1.0 + rough_mean(xhat, centring)
    standardized = centring + xhat * relative
    sizes = {"y": np.maximum(standardized, smallest_normal) * gamma + beta}
    if dout is not None:
        d = np.abs(dout)
        g = d * gamma
        mean_gx = rough_mean(g, xhat)
        terms = (g + rough_mean(g) + xhat * mean_gx) * relative
        sizes["dx"] = (terms + centring * mean_gx + xhat * rough_mean(g, centring)) * rstd
        sizes["dgamma"] = sum_over_rows(d * standardized)
        sizes["dbeta"] = sum_over_rows(d)
    return sizes
