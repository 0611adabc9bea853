"""The few calls that CPython does not wrap."""

from __future__ import annotations

import ctypes
import os
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38


def prctl(option: int, value: int) -> None:
    """Set an attribute of this process.

    Raises:
        OSError: the kernel refused.
    """
    arguments = [ctypes.c_ulong(argument) for argument in (value, 0, 0, 0)]
    if _LIBC.prctl(ctypes.c_int(option), *arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")
