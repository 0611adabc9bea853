# attack: 31
# tries: return an array that is small in memory and endless when copied
# kind: judge
# always: limits (address space)
# outcome: memory_limit or contract_error
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)
        self.dgamma = np.zeros(dim, dtype=np.float32)

    def forward(self, x):
        return np.broadcast_to(np.float32(0), (1 << 20, 1 << 20))

    def backward(self, dout):
        return np.zeros_like(dout)
