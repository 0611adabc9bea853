# outcome: wrong_answer
# diagnosis: none
# Works in pieces of 256 KB, and forgets the last one, which is shorter.
import numpy as np

BYTES = 1 << 18


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        dim = x.shape[-1]
        flat = np.array(x).reshape(-1, dim)
        n = len(flat)
        rows = max(1, BYTES // (dim * x.itemsize))
        self.pieces = [slice(i * rows, (i + 1) * rows) for i in range(max(1, n // rows))]
        y = np.zeros((n, dim), x.dtype)
        self.p = np.zeros((n, dim))
        for p in self.pieces:
            a = flat[p].astype(np.float64)
            if a.size:
                a -= a.max(axis=1, keepdims=True)
            e = np.exp(a)
            s = e.sum(axis=1, keepdims=True)
            y[p] = np.log(s) - a
            self.p[p] = e / s
        return y.reshape(x.shape)

    def backward(self, dout):
        d = dout.reshape(-1, dout.shape[-1]).astype(np.float64)
        dx = np.zeros(d.shape, dout.dtype)
        for p in self.pieces:
            dx[p] = self.p[p] * d[p].sum(1, keepdims=True) - d[p]
        return dx.reshape(dout.shape)
