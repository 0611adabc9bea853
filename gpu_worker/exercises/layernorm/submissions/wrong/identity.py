# outcome: wrong_answer
# diagnosis: none
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)

    def forward(self, x):
        return x

    def backward(self, dout):
        self.dgamma, self.dbeta = self.gamma, self.beta
        return dout
