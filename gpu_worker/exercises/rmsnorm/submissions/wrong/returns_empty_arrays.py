# outcome: wrong_answer
# diagnosis: any
# catalogue: 5
# Hopes that freed memory holds the right answer.
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim, dtype=np.float32)

    def forward(self, x):
        return np.empty_like(x)

    def backward(self, dout):
        self.dgamma = np.empty_like(self.gamma)
        return np.empty_like(dout)
