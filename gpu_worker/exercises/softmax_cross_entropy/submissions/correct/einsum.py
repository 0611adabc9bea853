# outcome: accepted
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        z = np.asarray(x, dtype=np.float64)
        z = z - np.amax(z, axis=-1)[..., None]
        e = np.exp(z)
        total = np.einsum("...k->...", e)
        self.p = np.einsum("...k,...->...k", e, 1 / total)
        return (np.log(total)[..., None] - z).astype(x.dtype)

    def backward(self, dout):
        d = np.asarray(dout, dtype=np.float64)
        return (np.einsum("...k,...j->...k", self.p, d) - d).astype(self.dtype)
