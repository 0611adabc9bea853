# outcome: accepted
# Adds the maximum back and subtracts x, and takes p from the losses.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.result_type(x.dtype, np.float32))
        m = wide.max(axis=-1, keepdims=True)
        lse = m + np.log(np.exp(wide - m).sum(axis=-1, keepdims=True))
        self.losses = lse - wide
        return self.losses.astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.losses.dtype)
        dx = np.exp(-self.losses) * d.sum(axis=-1, keepdims=True) - d
        return dx.astype(self.dtype)
