# outcome: time_limit
# limits: wall_seconds=1
import numpy as np


class LayerNormScratch:
    def __init__(self, dim, eps=1e-6):
        while True:
            pass
