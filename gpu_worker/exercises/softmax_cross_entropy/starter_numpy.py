"""Softmax and cross-entropy from scratch: fill in forward and backward.

    p = exp(x) / sum(exp(x))        y = -log(p)        over the last axis

y[..., j] is the cross-entropy loss of the row if its class is j. dout says how much each of these
losses counts: where it is the one-hot target, dx must be p minus the target.

Rules of the exercise:
- x has one to four dimensions, shape (..., D), and dtype float16, float32 or float64, in any
  memory layout. An empty batch, for example shape (0, D), works too.
- dout has the shape and the dtype of x; it need not add up to one. y and dx have the shape and
  the dtype of x.
- Logits may be as large as the dtype allows: exp must not overflow, log must not see a zero.
- Sums run in float32 at least, also when x is float16.
- x and dout are not changed.
"""

import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the losses -log(softmax(x)) of each row, and keep what backward needs."""
        raise NotImplementedError("Write forward: return y with the shape and dtype of x.")

    def backward(self, dout: np.ndarray) -> np.ndarray:
        """Return dx (..., D) for the gradient dout (..., D) of the most recent forward."""
        raise NotImplementedError("Write backward: return dx with the shape and dtype of x.")


if __name__ == "__main__":
    # Run by you, not by the grader.
    layer = SoftmaxCrossEntropyScratch()
    print("Losses:          ", layer.forward(np.array([[2.0, 1.0, 0.0]])))
    print("Gradient, class 0:", layer.backward(np.array([[1.0, 0.0, 0.0]])))
