# outcome: accepted
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.result_type(x.dtype, np.float32))
        shifted = wide - wide.max(axis=-1, keepdims=True)
        self.p = np.exp(shifted)
        total = self.p.sum(axis=-1, keepdims=True)
        self.p /= total
        return (np.log(total) - shifted).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.p.dtype)
        return (self.p * d.sum(axis=-1, keepdims=True) - d).astype(self.dtype)
