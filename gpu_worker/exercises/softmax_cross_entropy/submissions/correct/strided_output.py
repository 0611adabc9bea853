# outcome: accepted
# Results are views with unusual strides; their values are what counts.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        wide = x.astype(np.float64)
        shifted = wide - wide.max(-1, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(-1, keepdims=True)
        self.p, self.dtype = e / total, x.dtype
        return self._spread(np.log(total) - shifted)

    def backward(self, dout):
        d = dout.astype(np.float64)
        return self._spread(self.p * d.sum(-1, keepdims=True) - d)

    def _spread(self, values):
        out = np.empty((*values.shape[:-1], 2 * values.shape[-1]), self.dtype)[..., ::2]
        out[...] = values
        return out
