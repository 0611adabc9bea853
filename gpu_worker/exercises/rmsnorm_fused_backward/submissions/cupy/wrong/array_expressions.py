# outcome: contract_error
import cupy as cp


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside
        self.dgamma = None  # (D,), set by backward

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        mean_square = cp.mean(x * x, axis=-1, keepdims=True)
        self.x = x
        self.rstd = 1 / cp.sqrt(mean_square + cp.float32(self.eps))
        return x * self.rstd * self.gamma

    def backward(self, dout: cp.ndarray) -> cp.ndarray:
        xhat = self.x * self.rstd
        self.dgamma = cp.sum(dout * xhat, axis=tuple(range(dout.ndim - 1)))
        weighted = dout * self.gamma
        mean = cp.mean(weighted * xhat, axis=-1, keepdims=True)
        return (weighted - xhat * mean) * self.rstd
