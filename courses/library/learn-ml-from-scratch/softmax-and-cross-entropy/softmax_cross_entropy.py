"""Softmax and cross-entropy from scratch: losses and their exact gradient, in NumPy."""

import numpy as np


class SoftmaxCrossEntropyScratch:
    """y[j] = -log(softmax(x)[j]), for each row: its loss if its class is j."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.float64)
        shifted = x - np.max(x, axis=-1, keepdims=True)  # the largest becomes 0
        exponentials = np.exp(shifted)  # none above 1: nothing overflows
        total = np.sum(exponentials, axis=-1, keepdims=True)  # from 1 to K: log is safe
        self.p = exponentials / total
        y = np.log(total) - shifted  # never the log of a probability
        return y.astype(self.dtype)

    def backward(self, dout: np.ndarray) -> np.ndarray:
        dout = np.asarray(dout, dtype=np.float64)
        weight = np.sum(dout, axis=-1, keepdims=True)  # 1 where dout is a target
        dx = self.p * weight - dout
        return dx.astype(self.dtype)


def cross_entropy(layer: SoftmaxCrossEntropyScratch, x: np.ndarray, classes: np.ndarray):
    """Mean loss of rows x (N, K) whose classes are given, and its gradient for x."""
    targets = np.eye(x.shape[-1])[classes]  # one-hot, (N, K)
    losses = layer.forward(x)
    mean_loss = np.mean(np.sum(targets * losses, axis=-1))
    return mean_loss, layer.backward(targets / len(x))


def numeric_gradient(f, at: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Central differences of the scalar function f at the given point."""
    grad = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[index] = h
        grad[index] = (f(at + step) - f(at - step)) / (2 * h)
    return grad


if __name__ == "__main__":
    layer = SoftmaxCrossEntropyScratch()
    z = np.array([[2.0, 1.0, 0.0]])
    print("Losses:        ", np.round(layer.forward(z), 4))
    print("Probabilities: ", np.round(layer.p, 4))
    target = np.array([[1.0, 0.0, 0.0]])
    print("Gradient p - y:", np.round(layer.backward(target), 4))

    moved = layer.forward(z + 1000.0)
    print("Shifted by 1000:", np.array_equal(moved, layer.forward(z)))

    far = np.array([[1000.0, 0.0]])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        naive = np.exp(far) / np.sum(np.exp(far))
        print("Naive:         ", naive[0], "losses", -np.log(naive)[0])
    losses = layer.forward(far)
    print("Shifted first: ", layer.p[0], "losses", losses[0])

    half = layer.forward(np.array([12.0, 0.0], dtype=np.float16))
    print("float16 row:   ", half, half.dtype)

    loss, _ = cross_entropy(layer, np.zeros((4, 10)), np.array([3, 1, 4, 1]))
    print(f"Ten classes, no idea: {loss:.6f} = ln 10")

    rng = np.random.default_rng(0)
    x, classes = rng.standard_normal((5, 7)), rng.integers(0, 7, 5)
    _, dx = cross_entropy(layer, x, classes)
    by_x = numeric_gradient(lambda at: cross_entropy(layer, at, classes)[0], x)
    print("Gradient check: ", np.max(np.abs(dx - by_x)) < 1e-8, end=", ")
    print(f"rows sum to zero {np.max(np.abs(dx.sum(axis=-1))) < 1e-15}")
