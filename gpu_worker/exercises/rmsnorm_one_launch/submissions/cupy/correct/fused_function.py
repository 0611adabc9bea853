# outcome: accepted
# One launch, counted as one reading for the mean and one for what waits for it.
import cupy as cp


@cp.fuse()
def normalized(x, gamma, dim, eps):
    # What CuPy fuses has no mean and keeps no axes.
    mean = cp.sum(x * x, axis=-1) / dim
    return x / cp.sqrt(mean[..., None] + eps) * gamma


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.dim = dim
        self.eps = eps
        self.gamma = cp.ones(dim, dtype=cp.float32)

    def forward(self, x):
        return normalized(x, self.gamma, self.dim, cp.float32(self.eps))
