# outcome: wrong_answer
# mistake: float16-inside
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        x = x.astype(np.float16).astype(np.float64)
        shifted = x - np.max(x, axis=-1, keepdims=True)
        exponentials = np.exp(shifted)
        total = np.sum(exponentials, axis=-1, keepdims=True)
        self.p = exponentials / total
        return (np.log(total) - shifted).astype(self.dtype)

    def backward(self, dout):
        dout = np.asarray(dout, dtype=np.float64)
        weight = np.sum(dout, axis=-1, keepdims=True)
        return (self.p * weight - dout).astype(self.dtype)
