# outcome: accepted
# A module as a careful person writes it.
"""RMSNorm with a hand-written gradient.

Run it as a script for a demonstration.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

DEFAULT_EPS: Final[float] = 1e-6
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Context:
    """What backward needs of forward."""

    xhat: Array
    rstd: Array
    dtype: np.dtype[Any]


class Statistics:
    """Means over the last axis."""

    @staticmethod
    def mean(values: Array) -> Array:
        return np.add.reduce(values, axis=-1, keepdims=True) / values.shape[-1]


class RMSNormScratch:
    """Root mean square normalization over the last axis."""

    def __init__(self, dim: int, eps: float = DEFAULT_EPS) -> None:
        if dim < 1:
            raise ValueError("dim must be positive")
        self.dim, self.eps = dim, eps
        self.gamma: Array = np.ones(dim, dtype=np.float32)
        self.dgamma: Array | None = None
        self._context: Context | None = None

    def forward(self, x: Array) -> Array:
        """Return y with the shape and dtype of x."""
        wide = np.asarray(x, dtype=np.float64)
        rstd = 1 / np.sqrt(Statistics.mean(np.square(wide)) + self.eps)
        self._context = Context(wide * rstd, rstd, x.dtype)
        return np.multiply(self._context.xhat, self.gamma).astype(x.dtype)

    def backward(self, dout: Array) -> Array:
        """Return dx and set dgamma."""
        if self._context is None:
            raise RuntimeError("call forward first")
        xhat, rstd = self._context.xhat, self._context.rstd
        upstream = np.asarray(dout, dtype=np.float64)
        leading = tuple(range(upstream.ndim - 1))
        self.dgamma = (upstream * xhat).sum(axis=leading).astype(self.gamma.dtype)
        scaled = upstream * self.gamma
        return ((scaled - xhat * Statistics.mean(scaled * xhat)) * rstd).astype(self._context.dtype)


def main() -> None:
    layer = RMSNormScratch(4)
    print(layer.forward(np.arange(1.0, 5.0)[None]), math.sqrt(7.5))


if __name__ == "__main__":
    main()
