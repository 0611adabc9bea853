# outcome: contract_error
# diagnosis: none
# The dtype is kept from the first x.
import numpy as np


class SoftmaxCrossEntropyScratch:
    dtype = None

    def forward(self, x):
        self.dtype = self.dtype or x.dtype
        w = x.astype(np.float64)
        s = w - w.max(axis=-1, keepdims=True)
        lse = np.log(np.exp(s).sum(axis=-1, keepdims=True))
        self.p = np.exp(s - lse)
        return (lse - s).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        dx = self.p * d.sum(axis=-1, keepdims=True) - d
        return dx.astype(self.dtype)
