# outcome: time_limit
# catalogue: 38
# limits: wall_seconds=1
import numpy as np


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        while True:
            pass
