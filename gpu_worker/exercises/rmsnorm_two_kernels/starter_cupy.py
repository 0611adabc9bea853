"""RMSNorm forward in two kernels. This file is right and moves too much: bring it down.

    y = x / RMS(x) * gamma        RMS(x) = sqrt(mean(x**2) + eps), over the last axis

Rules of the exercise:
- x is float32 and C-contiguous, of shape (..., D), with 1 <= D <= 8192. A batch may be empty.
- y has the shape and the dtype of x. x and gamma are not changed.
- The budget, counted for x of shape (16, 1024): at most 3.25 times the bytes of x moved, in two
  launches. As it stands, forward takes six launches and moves 7 times the bytes of x.
"""

import cupy as cp


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        """Normalize each row of x (..., D)."""
        mean_square = cp.mean(x * x, axis=-1, keepdims=True)
        rms = cp.sqrt(mean_square + cp.float32(self.eps))
        return x / rms * self.gamma


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = RMSNormScratch(dim=4)
    print(layer.forward(cp.array([[1.0, 2.0, 3.0, 4.0]], dtype=cp.float32)))
