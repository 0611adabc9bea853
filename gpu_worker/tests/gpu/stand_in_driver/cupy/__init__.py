"""A stand-in for CuPy and the driver below it: for the probe's control flow, and nothing else.

The environment variable STAND_IN_DRIVER says how its device behaves. Its figures are invented.
"""

from __future__ import annotations

import os
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "0.stand.in"
BEHAVIOUR = os.environ.get("STAND_IN_DRIVER", "")
uint8, uint32 = np.uint8, np.uint32
zeros, empty, copyto, asnumpy = np.zeros, np.empty, np.copyto, np.asarray


class RawKernel:
    def __init__(self, source: str, name: str) -> None:
        if BEHAVIOUR == "raises":
            raise RuntimeError("CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered")

    def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
        if BEHAVIOUR == "hangs":
            time.sleep(600)
        if BEHAVIOUR == "dies":
            os.kill(os.getpid(), 11)
        out, count, seed = arguments
        out[:] = (np.arange(count, dtype=np.uint32) ^ seed) * np.uint32(2654435761)
        if BEHAVIOUR == "computes wrongly":
            out[77] += 1


class _Event:
    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        return


def _properties(device: int) -> dict[str, Any]:
    return {"name": os.environ["CUDA_VISIBLE_DEVICES"].encode(), "major": 9, "minor": 0}


cuda = SimpleNamespace(
    Event=_Event,
    get_elapsed_time=lambda first, last: (last.at - first.at) * 1e3,
    runtime=SimpleNamespace(
        getDeviceProperties=_properties,
        memGetInfo=lambda: (1 << 22, 1 << 23),
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13010,
    ),
)
