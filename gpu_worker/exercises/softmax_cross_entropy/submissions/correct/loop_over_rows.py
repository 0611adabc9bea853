# outcome: accepted
import numpy as np


def softmax(row):
    e = np.exp(row - np.max(row))
    return e / np.sum(e)


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.x = x.copy()
        y = np.empty(x.shape, dtype=np.float64)
        for index in np.ndindex(x.shape[:-1]):
            row = x[index].astype(np.float64)
            m = np.max(row)
            y[index] = np.log(np.sum(np.exp(row - m))) - (row - m)
        return y.astype(x.dtype)

    def backward(self, dout):
        dx = np.empty(dout.shape, dtype=np.float64)
        for index in np.ndindex(dout.shape[:-1]):
            d = dout[index].astype(np.float64)
            dx[index] = softmax(self.x[index].astype(np.float64)) * d.sum() - d
        return dx.astype(self.x.dtype)
