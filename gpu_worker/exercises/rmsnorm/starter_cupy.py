"""RMSNorm from scratch: fill in forward and backward.

    y = x / RMS(x) * gamma        RMS(x) = sqrt(mean(x**2) + eps), over the last axis

Rules of the exercise:
- x has one to four dimensions, shape (..., D), and dtype float16, bfloat16, float32 or
  float64, in any memory layout. An empty batch, for example shape (0, D), works too.
- gamma and dout have the dtype of x. y and dx have the shape and the dtype of x.
- Sums run in float32 at least, also when x is float16 or bfloat16.
- x, dout and gamma are not changed.
"""

import cupy as cp


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside
        self.dgamma = None  # (D,), set by backward

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        """Normalize each row of x (..., D), and keep what backward needs."""
        raise NotImplementedError("Write forward: return y with the shape and dtype of x.")

    def backward(self, dout: cp.ndarray) -> cp.ndarray:
        """Return dx (..., D) for the gradient dout (..., D) of the most recent forward.

        Sets self.dgamma (D,), summed over all axes but the last, with the dtype of gamma.
        """
        raise NotImplementedError("Write backward: set self.dgamma and return dx.")


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = RMSNormScratch(dim=4)
    x = cp.array([[1.0, 2.0, 3.0, 4.0]], dtype=cp.float32)
    print("Forward output: ", layer.forward(x))
    print("Backward grad dx:", layer.backward(cp.ones_like(x)))
