# outcome: wrong_answer
# catalogue: 10
# diagnosis: none
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim)

    def forward(self, x):
        return x

    def backward(self, dout):
        self.dgamma = self.gamma
        return dout
