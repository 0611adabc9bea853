"""RMSNorm from scratch: the forward pass and its exact gradient, in NumPy."""

import numpy as np


class RMSNormScratch:
    """y = x / sqrt(mean(x**2) + eps) * gamma, for each row (the last axis)."""

    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.float64)  # 256**2 overflows in float16
        mean_square = np.mean(x * x, axis=-1, keepdims=True)
        self.rstd = 1.0 / np.sqrt(mean_square + self.eps)  # one number per row
        self.xhat = x * self.rstd
        y = self.xhat * self.gamma
        return y.astype(self.dtype)

    def backward(self, dout: np.ndarray) -> np.ndarray:
        dout = np.asarray(dout, dtype=np.float64)
        rows = tuple(range(dout.ndim - 1))  # every axis but the last
        dgamma = np.sum(dout * self.xhat, axis=rows)
        self.dgamma = dgamma.astype(self.gamma.dtype)

        dxhat = dout * self.gamma
        projection = np.mean(dxhat * self.xhat, axis=-1, keepdims=True)
        dx = self.rstd * (dxhat - self.xhat * projection)
        return dx.astype(self.dtype)


def numeric_gradient(f, at: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """Central differences of the scalar function f at the given point."""
    grad = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[index] = h
        grad[index] = (f(at + step) - f(at - step)) / (2 * h)
    return grad


if __name__ == "__main__":
    layer = RMSNormScratch(dim=4)
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    out = layer.forward(x)
    dx = layer.backward(np.ones_like(out))
    print("Forward output: ", np.round(out, 4))
    print("Backward grad dx:", np.round(dx, 4))

    print(f"RMS of the row:   {1 / layer.rstd[0, 0]:.6f}")
    print(f"Mean square of y: {np.mean(out**2):.4f}, variance {np.var(out):.4f}")
    print(f"eps fingerprint:  dx[0, 2] = {dx[0, 2]:.4e}, x.dx = {np.sum(x * dx):.4e}")

    half = np.array([300.0, 400.0], dtype=np.float16)
    out = RMSNormScratch(dim=2).forward(half)
    print(f"float16 row:      {out} {out.dtype}")

    rng = np.random.default_rng(0)
    x, dout = rng.standard_normal((2, 2, 3, 5))  # two arrays of shape (2, 3, 5)
    gamma = rng.standard_normal(5)
    layer = RMSNormScratch(dim=5)

    def loss(x: np.ndarray, gamma: np.ndarray) -> float:
        layer.gamma = gamma
        return np.sum(layer.forward(x) * dout)

    loss(x, gamma)
    dx, dgamma = layer.backward(dout), layer.dgamma
    by_x = numeric_gradient(lambda at: loss(at, gamma), x)
    by_gamma = numeric_gradient(lambda at: loss(x, at), gamma)
    print("Gradient check:   dx", np.max(np.abs(dx - by_x)) < 1e-8, end=", ")
    print("dgamma", np.max(np.abs(dgamma - by_gamma)) < 1e-8)
