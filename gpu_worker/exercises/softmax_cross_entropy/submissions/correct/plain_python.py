# outcome: accepted
# No vectorised arithmetic at all: lists, math and loops.
import math

import numpy as np


class SoftmaxCrossEntropyScratch:
    def forward(self, x):
        self.shape, self.dtype = x.shape, x.dtype
        self.dim = x.shape[-1]
        self.p, losses = [], []
        for row in self._rows(x):
            largest = max(row)
            if any(math.isnan(v) or math.isinf(v) for v in row):
                losses.append([math.nan] * self.dim)
                self.p.append([math.nan] * self.dim)
                continue
            exponentials = [math.exp(v - largest) for v in row]
            total = math.fsum(exponentials)
            log_total = math.log(total)
            losses.append([log_total - (v - largest) for v in row])
            self.p.append([e / total for e in exponentials])
        return self._array(losses)

    def backward(self, dout):
        rows = []
        for p, d in zip(self.p, self._rows(dout)):
            weight = math.fsum(d)
            rows.append([a * weight - b for a, b in zip(p, d)])
        return self._array(rows)

    def _rows(self, values):
        flat = values.ravel().tolist()
        return [flat[i : i + self.dim] for i in range(0, len(flat), self.dim)]

    def _array(self, rows):
        return np.array(rows, dtype=np.float64).reshape(self.shape).astype(self.dtype)
