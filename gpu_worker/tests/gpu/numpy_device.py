"""A device for the referee made of NumPy, and a plan with few elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_worker.gpu.timing_plan import Plan

SMALL = Plan((40, 33), np.dtype(np.float32), ("forward", "backward"), 2, True, "timed call")


class NumpyDevice:
    """NumPy in place of a device, for what a referee computes."""

    xp = np

    def __init__(self) -> None:
        self.cleared = 0

    def synchronize(self) -> None:
        return

    def copy(self, target: Any, source: Any) -> None:
        target[...] = source

    def clear_caches(self) -> None:
        self.cleared += 1

    def download(self, array: Any, out: Any) -> None:
        out[...] = array
