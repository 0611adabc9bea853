# outcome: accepted
# Adds the exponentials one column after the other in float32.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.result_type(x.dtype, np.float32))
        shifted = wide - wide.max(axis=-1, keepdims=True)
        e = np.exp(shifted)
        total = np.cumsum(e, axis=-1)[..., -1:]
        self.p = e / total
        return (np.log(total) - shifted).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(self.p.dtype)
        weight = np.cumsum(d, axis=-1)[..., -1:]
        return (self.p * weight - d).astype(self.dtype)
