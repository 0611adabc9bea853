"""`cupy.cuda`: streams, events, devices and memory pools that change nothing here.

Everything runs at once and in order, so waiting returns at once. Times of events are those of this
processor and say nothing about a device.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from .compiler import CompileException, KernelsUnavailableError
from .launching import CUDADriverError
from .missing import missing
from .pools import (
    MemoryAsyncPool,
    MemoryPool,
    PinnedMemoryPool,
    set_allocator,
    set_pinned_memory_allocator,
    using_allocator,
)

__all__ = [
    "CUDADriverError",
    "CompileException",
    "Device",
    "Event",
    "ExternalStream",
    "KernelsUnavailableError",
    "MemoryAsyncPool",
    "MemoryPool",
    "PinnedMemoryPool",
    "Stream",
    "compiler",
    "driver",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "nvtx",
    "profile",
    "profiler",
    "runtime",
    "set_allocator",
    "set_pinned_memory_allocator",
    "using_allocator",
]

_BYTES = 141 * 10**9
"""The memory of an H200; how much would be free is unknown, so all of it is reported as free."""


class _Offered:
    """What says of a name that is not there what is."""

    def __getattr__(self, name: str) -> Any:
        raise missing(f"cuda.{type(self).__name__.lstrip('_')}", name, dir(self))


class Stream(_Offered):
    """A stream: work is done by the time a call returns."""

    null: Stream
    ptds: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
                 priority: Any = None) -> None:  # fmt: skip
        self.ptr = 0
        self.device_id = 0

    @property
    def done(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        return

    def use(self) -> Self:
        return self

    def synchronize(self) -> None:
        return

    def record(self, event: Any = None) -> Any:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        return

    def launch_host_func(self, callback: Any, argument: Any) -> None:
        callback(argument)


Stream.null = Stream.ptds = Stream()
ExternalStream = Stream


class Event(_Offered):
    """A mark in time, of this processor's clock."""

    def __init__(self, block: bool = False, disable_timing: bool = False,
                 interprocess: bool = False) -> None:  # fmt: skip
        self.time = 0.0

    @property
    def done(self) -> bool:
        return True

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        return


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Return milliseconds between two events, on this processor."""
    return (end_event.time - start_event.time) * 1e3


def get_current_stream(device_id: int = -1) -> Stream:
    """Return the one stream there is."""
    return Stream.null


class Device(_Offered):
    """The one device there is: this processor, in place of an NVIDIA H200."""

    compute_capability = "90"

    def __init__(self, device: Any = None) -> None:
        self.id = int(getattr(device, "id", device) or 0)
        # The attributes that programs read to size their grids.
        self.mem_info = (_BYTES, _BYTES)
        self.attributes = {"MultiProcessorCount": 132, "MaxThreadsPerBlock": 1024, "WarpSize": 32,
                           "MaxSharedMemoryPerBlock": 49152,
                           "MaxSharedMemoryPerBlockOptin": 232448}  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        return

    def __int__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"

    def use(self) -> Self:
        return self

    def synchronize(self) -> None:
        return


def is_available() -> bool:
    """Return True: a program that asks wants to know whether it can go on."""
    return True


class _runtime(_Offered):
    """The few calls of the CUDA runtime that array programs make."""

    def deviceSynchronize(self) -> None:
        return

    def streamSynchronize(self, stream: int) -> None:
        return

    def getDeviceCount(self) -> int:
        return 1

    def getDevice(self) -> int:
        return 0

    def setDevice(self, device: int) -> None:
        if device:
            raise ValueError(f"cudaErrorInvalidDevice: there is no device {device}, only device 0")

    def memGetInfo(self) -> tuple[int, int]:
        return _BYTES, _BYTES

    def runtimeGetVersion(self) -> int:
        return 13000

    def driverGetVersion(self) -> int:
        return 13000

    def getDeviceProperties(self, device: int = 0) -> dict[str, Any]:
        return {
            **{"name": b"CPU stand-in for an NVIDIA H200", "major": 9, "minor": 0},
            **{"multiProcessorCount": 132, "warpSize": 32, "maxThreadsPerBlock": 1024},
            **{"sharedMemPerBlock": 49152, "maxThreadsPerMultiProcessor": 2048},
            **{"totalGlobalMem": _BYTES},
        }


runtime = _runtime()


class compiler:
    """What CuPy's compiler raises."""

    CompileException = CompileException
    KernelsUnavailableError = KernelsUnavailableError


class driver:
    """What CUDA's driver raises."""

    CUDADriverError = CUDADriverError


class nvtx:
    """Marks for a profiler that is not there."""

    @staticmethod
    def RangePush(message: str, id_color: int = -1) -> None:
        return

    @staticmethod
    def RangePop() -> None:
        return


class profiler:
    """A profiler that is not there."""

    @staticmethod
    def start() -> None:
        return

    @staticmethod
    def stop() -> None:
        return


@contextmanager
def profile() -> Iterator[None]:
    """Change nothing for a while."""
    yield


def get_device_id() -> int:
    """Return the number of the one device."""
    return 0


def __getattr__(name: str) -> Any:
    raise missing("cuda", name, globals())
