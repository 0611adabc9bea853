# outcome: wrong_answer
# diagnosis: none
# A buffer is kept from call to call if its shape fits, whatever its dtype is.
import numpy as np


class SoftmaxCrossEntropyScratch:
    kept = None

    def forward(self, x):
        self.dtype = x.dtype
        w = x.astype(np.float64)
        s = w - w.max(axis=-1, keepdims=True)
        lse = np.log(np.exp(s).sum(axis=-1, keepdims=True))
        if self.kept is None or self.kept.shape != x.shape:
            self.kept = np.empty(x.shape, np.float32 if x.dtype != np.float64 else np.float64)
        np.copyto(self.kept, np.exp(s - lse), casting="unsafe")
        self.p = self.kept
        return (lse - s).astype(self.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64)
        dx = self.p * d.sum(axis=-1, keepdims=True) - d
        return dx.astype(self.dtype)
