# outcome: wrong_answer
# diagnosis: none
# Reads a large array in Fortran order as it lies in memory.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = np.float64 if x.dtype == np.float64 else np.float32
        x = (x.ravel("K").reshape(x.shape) if x.size > 40_000 else x).astype(wide)
        shifted = x - np.max(x, axis=-1, keepdims=True)
        exponentials = np.exp(shifted)
        total = np.sum(exponentials, axis=-1, keepdims=True)
        self.p = exponentials / total
        return (np.log(total) - shifted).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(self.p.dtype)
        weight = np.sum(d, axis=-1, keepdims=True)
        return (self.p * weight - d).astype(self.dtype)
