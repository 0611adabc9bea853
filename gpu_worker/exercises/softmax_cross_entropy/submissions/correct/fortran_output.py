# outcome: accepted
# Returns arrays in Fortran order.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        wide = x.astype(np.float64)
        wide = wide - wide.max(-1, keepdims=True)
        log_total = np.log(np.exp(wide).sum(-1, keepdims=True))
        self.log_p = wide - log_total
        return np.asfortranarray((-self.log_p).astype(x.dtype))

    def backward(self, dout):
        d = dout.astype(np.float64)
        return np.asfortranarray((np.exp(self.log_p) * d.sum(-1, keepdims=True) - d).astype(self.dtype))
