"""Temperature, clocks and memory from NVIDIA's management library; for child processes only."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any, Final

LIBRARY: Final = "libnvidia-ml.so.1"
_TEMPERATURE_OF_GPU: Final = 0
_CLOCK_OF_SM: Final = 1
_CLOCK_OF_MEMORY: Final = 2


class _Memory(ctypes.Structure):
    """`nvmlMemory_t`, in bytes."""

    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Device:
    """One device as the library shows it; None for it where library or device is missing."""

    def __init__(self, library: Any, handle: Any) -> None:
        self._library = library
        self._handle = handle

    def readings(self) -> dict[str, int]:
        """Return temperature and clocks, those that can be read."""
        library = self._library
        if library is None:
            return {}
        asked = {
            "temperature_celsius": (library.nvmlDeviceGetTemperature, _TEMPERATURE_OF_GPU),
            "sm_clock_megahertz": (library.nvmlDeviceGetClockInfo, _CLOCK_OF_SM),
            "memory_clock_megahertz": (library.nvmlDeviceGetClockInfo, _CLOCK_OF_MEMORY),
        }
        found = {}
        for name, (call, which) in asked.items():
            value = ctypes.c_uint()
            if call(self._handle, which, ctypes.byref(value)) == 0:
                found[name] = int(value.value)
        return found

    def used_megabytes(self) -> int | None:
        """Return how much of the device's memory all processes use; None where it is not told."""
        if self._library is None:
            return None
        memory = _Memory()
        if self._library.nvmlDeviceGetMemoryInfo(self._handle, ctypes.byref(memory)):
            return None
        return int(memory.used >> 20)


@contextlib.contextmanager
def opened(uuid: str) -> Iterator[Device]:
    """Open the library on a device; yields one that knows nothing where that is not possible."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        yield Device(None, None)
        return
    if library.nvmlInit_v2():
        yield Device(None, None)
        return
    try:
        handle = ctypes.c_void_p()
        found = library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)) == 0
        yield Device(library, handle) if found else Device(None, None)
    finally:
        library.nvmlShutdown()


def readings(uuid: str) -> dict[str, int]:
    """Return what can be read of a device; nothing where the library or the device is missing."""
    with opened(uuid) as device:
        return device.readings()
