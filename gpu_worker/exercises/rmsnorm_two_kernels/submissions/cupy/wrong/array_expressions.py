# outcome: contract_error
import cupy as cp


class RMSNormScratch:
    def __init__(self, dim: int, eps: float = 1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)  # (D,), may be replaced from outside

    def forward(self, x: cp.ndarray) -> cp.ndarray:
        mean_square = cp.mean(x * x, axis=-1, keepdims=True)
        rms = cp.sqrt(mean_square + cp.float32(self.eps))
        return x / rms * self.gamma
