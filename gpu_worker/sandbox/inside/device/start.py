"""The last step before the learner's code: initialises the device, then adds one more wall.

Initialising the driver takes calls that computing does not need. So it is done here, in the runner,
with all other layers on: driver, context, compiler and a first kernel. Then a second filter revokes
those calls for all threads. Any failure here is the platform's, never the program's.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
from typing import Final

import numpy as np

from ..layers import libc
from .library import KERNELS, take_kernels

_SECCOMP: Final = {"x86_64": 317, "aarch64": 277}
_SET_MODE_FILTER: Final = 1
_ALL_THREADS: Final = 1
_INSTRUCTION_BYTES: Final = 8


class DeviceFailedError(RuntimeError):
    """The device computes wrongly in this process."""


def begin(program: bytes) -> None:
    """Take the device into use, and load the second filter.

    Raises:
        Exception: CuPy's or the operating system's; the device cannot be used in here.
    """
    take_kernels(KERNELS, os.environ.get("CUPY_CACHE_DIR", ""))
    cupy = importlib.import_module("cupy")
    ones = cupy.ones(8, cupy.float32)
    found = cupy.asnumpy(ones + ones)
    cupy.cuda.runtime.deviceSynchronize()
    if not np.array_equal(found, np.full(8, 2, np.float32)):
        raise DeviceFailedError("a first kernel gave wrong results")
    seal(program)


def seal(program: bytes) -> None:
    """Filter the calls of all threads of this process once more. Needs `no_new_privs`.

    Raises:
        OSError: the kernel refused, or one of the threads cannot be filtered.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    head = (len(program) // _INSTRUCTION_BYTES).to_bytes(8, "little")
    structure = head + ctypes.addressof(buffer).to_bytes(8, "little")
    number = _SECCOMP[platform.machine()]
    stubborn = libc.syscall("seccomp", number, _SET_MODE_FILTER, _ALL_THREADS, structure)
    if stubborn:
        raise OSError(f"the thread {stubborn} cannot be filtered")
