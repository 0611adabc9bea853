# outcome: accepted
# One launch, counted as one reading for the mean and one for what waits for it.
import cupy as cp


@cp.fuse()
def normalized(x, gamma, eps):
    return x / cp.sqrt(cp.mean(x * x, axis=-1, keepdims=True) + eps) * gamma


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        return normalized(x, self.gamma, cp.float32(self.eps))
