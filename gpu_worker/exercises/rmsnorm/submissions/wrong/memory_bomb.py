# outcome: memory_limit
# catalogue: 39
# limits: memory_megabytes=256
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        self.kept = []
        while True:
            self.kept.append(np.ones(1 << 20))
