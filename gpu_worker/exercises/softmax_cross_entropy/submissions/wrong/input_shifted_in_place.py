# outcome: wrong_answer
# mistake: x-modified
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.result_type(x.dtype, np.float32))
        m = np.max(x, axis=-1, keepdims=True)
        x -= m
        shifted = x
        exponentials = np.exp(shifted)
        total = np.sum(exponentials, axis=-1, keepdims=True)
        self.p = exponentials / total
        return (np.log(total) - shifted).astype(self.dtype)

    def backward(self, dout):
        dout = np.asarray(dout, dtype=self.p.dtype)
        weight = np.sum(dout, axis=-1, keepdims=True)
        return (self.p * weight - dout).astype(self.dtype)
