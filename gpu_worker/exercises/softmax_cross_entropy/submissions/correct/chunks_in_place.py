# outcome: accepted
# Works on a copy, in place, a few rows at a time.
import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.dtype, self.shape = x.dtype, x.shape
        rows = x.astype(np.float64).reshape((int(np.prod(x.shape[:-1])), x.shape[-1]))
        self.p = np.empty_like(rows)
        for start in range(0, len(rows), 4):
            piece = rows[start : start + 4]
            piece -= piece.max(axis=1, keepdims=True)
            p = np.exp(piece, out=self.p[start : start + 4])
            total = p.sum(axis=1, keepdims=True)
            p /= total
            np.subtract(np.log(total), piece, out=piece)
        return rows.reshape(x.shape).astype(x.dtype)

    def backward(self, dout):
        d = dout.astype(np.float64).reshape(self.p.shape)
        dx = self.p * d.sum(axis=1, keepdims=True)
        dx -= d
        return dx.reshape(self.shape).astype(self.dtype)
