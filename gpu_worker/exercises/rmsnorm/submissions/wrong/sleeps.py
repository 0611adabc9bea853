# outcome: time_limit
# catalogue: 38
# limits: wall_seconds=1
import time

import numpy as np

time.sleep(3600)


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.gamma = np.ones(dim)

    def forward(self, x):
        return x * 1

    def backward(self, dout):
        self.dgamma = self.gamma * 1
        return dout * 1
