# outcome: wrong_answer
# mistake: float32-inside
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.float32)
        shifted = x - np.max(x, axis=-1, keepdims=True)
        exponentials = np.exp(shifted)
        total = np.sum(exponentials, axis=-1, keepdims=True)
        self.p = exponentials / total
        return (np.log(total) - shifted).astype(self.dtype)

    def backward(self, dout):
        dout = np.asarray(dout, dtype=np.float32)
        weight = np.sum(dout, axis=-1, keepdims=True)
        return (self.p * weight - dout).astype(self.dtype)
