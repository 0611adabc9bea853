# outcome: wrong_answer
# catalogue: N26
# mistake: shared-state
import numpy as np


kept = {}


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.eps = eps
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        kept["dtype"] = x.dtype
        kept["x"] = x.astype(np.float64)
        kept["rms"] = np.sqrt(np.mean(kept["x"]**2, axis=-1, keepdims=True) + self.eps)
        kept["xhat"] = kept["x"] / kept["rms"]
        return (kept["xhat"] * self.gamma).astype(kept["dtype"])

    def backward(self, dout):
        d = dout.astype(np.float64)
        rows = tuple(range(d.ndim - 1))
        self.dgamma = np.sum(d * kept["xhat"], axis=rows).astype(self.gamma.dtype)
        weighted = d * self.gamma
        projection = np.mean(weighted * kept["xhat"], axis=-1, keepdims=True)
        dx = (weighted - kept["xhat"] * projection) / kept["rms"]
        return dx.astype(kept["dtype"])
