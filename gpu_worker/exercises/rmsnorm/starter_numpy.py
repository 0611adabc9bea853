"""RMSNorm from scratch: fill in forward and backward.

    y = x / RMS(x) * gamma        RMS(x) = sqrt(mean(x**2) + eps), over the last axis

Rules of the exercise:
- x has one to four dimensions, shape (..., D), and dtype float16, float32 or float64, in any
  memory layout. An empty batch, for example shape (0, D), works too.
- gamma and dout have the dtype of x. y and dx have the shape and the dtype of x.
- Everything is computed in float32 at least: float16 is widened to float32 or float64, float64
  stays float64 from beginning to end.
- x, dout and gamma are not changed.
"""

import numpy as np


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)  # (D,), may be replaced from outside
        self.dgamma = None  # (D,), set by backward

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Normalize each row of x (..., D), and keep what backward needs."""
        raise NotImplementedError("Write forward: return y with the shape and dtype of x.")

    def backward(self, dout: np.ndarray) -> np.ndarray:
        """Return dx (..., D) for the gradient dout (..., D) of the most recent forward.

        Sets self.dgamma (D,), summed over all axes but the last, with the dtype of gamma.
        """
        raise NotImplementedError("Write backward: set self.dgamma and return dx.")


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = RMSNormScratch(dim=4)
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    print("Forward output: ", layer.forward(x))
    print("Backward grad dx:", layer.backward(np.ones_like(x)))
