"""Temperature and clocks by NVIDIA's management library; for child processes only."""

from __future__ import annotations

import ctypes
from typing import Final

_TEMPERATURE_OF_GPU: Final = 0
_CLOCK_OF_SM: Final = 1
_CLOCK_OF_MEMORY: Final = 2


def readings(uuid: str) -> dict[str, int]:
    """Return what can be read of a device; nothing where the library or the device is missing."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return {}
    if library.nvmlInit_v2():
        return {}
    try:
        handle = ctypes.c_void_p()
        if library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)):
            return {}
        asked = {
            "temperature_celsius": (library.nvmlDeviceGetTemperature, _TEMPERATURE_OF_GPU),
            "sm_clock_megahertz": (library.nvmlDeviceGetClockInfo, _CLOCK_OF_SM),
            "memory_clock_megahertz": (library.nvmlDeviceGetClockInfo, _CLOCK_OF_MEMORY),
        }
        found = {}
        for name, (call, which) in asked.items():
            value = ctypes.c_uint()
            if call(handle, which, ctypes.byref(value)) == 0:
                found[name] = int(value.value)
        return found
    finally:
        library.nvmlShutdown()
