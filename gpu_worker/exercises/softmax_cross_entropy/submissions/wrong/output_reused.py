# outcome: wrong_answer
# mistake: output-reused
import numpy as np


class SoftmaxCrossEntropyScratch:
    buffer = None

    def forward(self, x):
        self.dtype = x.dtype
        x = np.asarray(x, dtype=np.float64)
        shifted = x - np.max(x, axis=-1, keepdims=True)
        exponentials = np.exp(shifted)
        total = np.sum(exponentials, axis=-1, keepdims=True)
        self.p = exponentials / total
        y = (np.log(total) - shifted).astype(self.dtype)
        if self.buffer is None or self.buffer.shape != y.shape or self.buffer.dtype != y.dtype:
            self.buffer = y
        self.buffer[...] = y
        return self.buffer

    def backward(self, dout):
        dout = np.asarray(dout, dtype=np.float64)
        weight = np.sum(dout, axis=-1, keepdims=True)
        return (self.p * weight - dout).astype(self.dtype)
