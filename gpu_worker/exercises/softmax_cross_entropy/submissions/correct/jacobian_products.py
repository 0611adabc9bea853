# outcome: accepted
# Multiplies with the full Jacobian of the losses, row by row, where it is not too large.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype = x.dtype
        y = np.empty(x.shape)
        for index in np.ndindex(x.shape[:-1]):
            row = x[index].astype(np.float64)
            shifted = row - row.max()
            y[index] = np.log(np.exp(shifted).sum()) - shifted
        self.p = np.exp(-y)
        return y.astype(x.dtype)

    def backward(self, dout):
        dx = np.empty(dout.shape)
        for index in np.ndindex(dout.shape[:-1]):
            d, p = dout[index].astype(np.float64), self.p[index]
            if d.size < 300:
                jacobian = np.tile(p, (d.size, 1)) - np.eye(d.size)
                dx[index] = d @ jacobian
            else:
                dx[index] = d.sum() * p - d
        return dx.astype(self.dtype)
