# attack: 29
# tries: return an object that runs code when it is unpickled
# kind: judge
# always: raw bytes only, never pickle
# outcome: contract_error
import numpy as np


class Bomb:
    def __reduce__(self):
        return (print, ("accepted",))


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)
        self.dgamma = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        return np.array([Bomb()], dtype=object)

    def backward(self, dout):
        return np.zeros_like(dout)
