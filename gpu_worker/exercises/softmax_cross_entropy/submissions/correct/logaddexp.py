# outcome: accepted
# The log of the sum by NumPy's own pairwise operation, which never overflows.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        lse = np.logaddexp.reduce(wide, axis=-1, keepdims=True)
        self.logp = wide - lse
        return (-self.logp).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        return (np.exp(self.logp) * d.sum(-1, keepdims=True) - d).astype(self.dtype)
