# attack: 30
# tries: return an array that claims to equal everything
# kind: judge
# always: raw bytes only; the judge is another process
# outcome: contract_error
import numpy as np


class Liar(np.ndarray):
    def __array_function__(self, function, types, arguments, options):
        return True

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return True

    def __eq__(self, other):
        return True

    __hash__ = None


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)
        self.dgamma = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        return x.view(Liar)

    def backward(self, dout):
        return np.zeros_like(dout)
