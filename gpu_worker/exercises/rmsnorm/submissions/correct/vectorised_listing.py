# outcome: accepted
import numpy as np


class RMSNormScratch:
    """y = x / sqrt(mean(x**2) + eps) * gamma, for every row along the last axis."""

    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.float64)
        self.rstd = 1.0 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.eps)
        self.xhat = x * self.rstd
        return (self.xhat * self.gamma).astype(self.dtype)

    def backward(self, dout: np.ndarray) -> np.ndarray:
        dout = np.asarray(dout, dtype=np.float64)
        rows = tuple(range(dout.ndim - 1))
        self.dgamma = np.sum(dout * self.xhat, axis=rows).astype(self.gamma.dtype)
        dxhat = dout * self.gamma
        projection = np.mean(dxhat * self.xhat, axis=-1, keepdims=True)
        return (self.rstd * (dxhat - self.xhat * projection)).astype(self.dtype)


if __name__ == "__main__":
    layer = RMSNormScratch(dim=4)
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    print(layer.forward(x), layer.backward(np.ones_like(x)))
