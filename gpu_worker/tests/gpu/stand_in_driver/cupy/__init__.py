"""A stand-in for CuPy and the driver below it: for the control flow of a node, and nothing else.

Arrays are NumPy's under another name, and what is called a device is this process. The environment
variable STAND_IN_DRIVER says how a probe's device behaves; in a run, a submission breaks it by
`cupy.cuda.stand_in_break()`. Its figures are invented.
"""

from __future__ import annotations

import ctypes
import os
import time
from types import SimpleNamespace
from typing import Any

import numpy as np

__version__ = "0.stand.in"
BEHAVIOUR = os.environ.get("STAND_IN_DRIVER", "")
uint8, uint32, int32 = np.uint8, np.uint32, np.int32
float16, float32, float64 = np.float16, np.float32, np.float64
inf = np.inf


class CUDARuntimeError(RuntimeError):
    """Named as CuPy's own."""


class MemoryPointer:
    def __init__(self, owner: Any, offset: int = 0) -> None:
        self.owner, self.offset = owner, offset

    @property
    def ptr(self) -> int:
        return int(self.owner.__array_interface__["data"][0]) + self.offset

    def memset(self, value: int, size: int) -> None:
        ctypes.memset(self.ptr, value, size)

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.owner, self.offset + offset)


class ndarray(np.ndarray):
    def __new__(
        cls, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None
    ) -> ndarray:
        if memptr is None:
            return np.ndarray.__new__(cls, shape, dtype)
        return np.ndarray.__new__(cls, shape, dtype, memptr.owner, memptr.offset, strides)

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self.view(np.ndarray))


def asarray(values: Any, dtype: Any = None) -> ndarray:
    return np.array(values, dtype).view(ndarray)


def asnumpy(array: Any, out: Any = None) -> Any:
    if BEHAVIOUR == "refuses":
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    _look()
    if out is None:
        return np.array(array)
    out[...] = array
    return out


def __getattr__(name: str) -> Any:
    found = getattr(np, name)
    if not callable(found) or isinstance(found, type):
        return found

    def call(*arguments: Any, **named: Any) -> Any:
        made = found(*arguments, **named)
        return made.view(ndarray) if isinstance(made, np.ndarray) else made

    return call


class RawKernel:
    def __init__(self, source: str, name: str) -> None:
        if BEHAVIOUR == "raises":
            raise RuntimeError("CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered")

    def __call__(self, grid: Any, block: Any, arguments: Any) -> None:
        if BEHAVIOUR == "hangs":
            while True:
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


_broken: list[str] = []


def _look() -> None:
    """An error of a device stays with the process that made it."""
    if _broken:
        raise CUDARuntimeError(_broken[0])


def _break() -> None:
    _broken.append("cudaErrorIllegalAddress: an illegal memory access was encountered")


def _properties(device: int) -> dict[str, Any]:
    name = os.environ["CUDA_VISIBLE_DEVICES"].encode()
    return {
        "name": name,
        "major": 7 if BEHAVIOUR == "old" else 9,
        "minor": 0,
        "l2CacheSize": 1 << 16,
    }


cuda = SimpleNamespace(
    Event=_Event,
    get_elapsed_time=lambda first, last: (last.at - first.at) * 1e3,
    stand_in_break=_break,
    runtime=SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        deviceSynchronize=_look,
        deviceSetLimit=lambda which, value: None,
        getDeviceProperties=_properties,
        memcpy=lambda target, source, size, kind: ctypes.memmove(target, source, size),
        memGetInfo=lambda: (1 << 22, 1 << 23),
        runtimeGetVersion=lambda: 13000,
        driverGetVersion=lambda: 13010,
    ),
)
