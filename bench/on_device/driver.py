"""What the NVIDIA driver itself says, asked without CuPy: the names of devices, clocks."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from typing import Final

_NAME_BYTES: Final = 256
_READINGS: Final = (
    *("clocks.sm", "clocks.mem", "temperature.gpu", "power.draw", "pstate"),
    "clocks_event_reasons.active",
)
_SECONDS: Final = 10


def device_names() -> list[str]:
    """Return the names that the driver gives its devices; none where there is no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    names = []
    for ordinal in range(count.value):
        device, name = ctypes.c_int(), ctypes.create_string_buffer(_NAME_BYTES)
        if driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0:
            driver.cuDeviceGetName(name, _NAME_BYTES, device)
            names.append(name.value.decode("utf-8", "replace"))
    return names


def reset_persisting_l2() -> None:
    """Make all persisting lines of the current context's second-level cache ordinary ones.

    Raises:
        RuntimeError: the driver cannot.
    """
    if status := ctypes.CDLL("libcuda.so.1").cuCtxResetPersistingL2Cache():
        raise RuntimeError(f"cuCtxResetPersistingL2Cache failed with status {status}.")


def readings(bus_id: str) -> dict[str, str]:
    """Return the device's clocks, temperature and power, with units; nothing without nvidia-smi."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    command = [program, f"--id={bus_id}", f"--query-gpu={','.join(_READINGS)}", "--format=csv"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {}
    lines = done.stdout.strip().splitlines()
    if done.returncode or len(lines) != 2:
        return {}
    return dict(zip(_READINGS, (part.strip() for part in lines[1].split(",")), strict=False))
