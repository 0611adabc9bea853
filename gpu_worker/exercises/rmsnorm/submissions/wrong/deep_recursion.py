# outcome: runtime_error or memory_limit or time_limit
# limits: wall_seconds=3 memory_megabytes=192
import sys

import numpy as np

sys.setrecursionlimit(10**9)


def down(n):
    return down(n + 1) + 1


class RMSNormScratch:
    def __init__(self, dim, eps=1e-6):
        down(0)
