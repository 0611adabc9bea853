"""seccomp: the kernel calls that computing needs are allowed, every other one is refused.

The list is in `gpu_worker.sandbox.syscalls`. The worker compiles it to a program once; here it is
only loaded. It is the last layer, since it refuses calls that applying the others takes.
"""

from __future__ import annotations

import ctypes
from typing import Final

from . import libc

_MODE_FILTER: Final = 2
_INSTRUCTION_BYTES: Final = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def load(program: bytes) -> None:
    """Filter this process's kernel calls from now on, for good. Needs `no_new_privs`.

    Raises:
        OSError: the kernel refused.
    """
    buffer = ctypes.create_string_buffer(program, len(program))
    structure = _Program(len(program) // _INSTRUCTION_BYTES, ctypes.addressof(buffer))
    libc.prctl(libc.PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(structure))
