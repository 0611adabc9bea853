# outcome: time_limit
# limits: wall_seconds=1 cpu_seconds=1
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        while True:
            pass

    def backward(self, dout):
        dout = np.asarray(dout, dtype=np.float64)
        weight = np.sum(dout, axis=-1, keepdims=True)
        return (self.p * weight - dout).astype(self.dtype)
