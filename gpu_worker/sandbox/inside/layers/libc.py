"""The few kernel calls that CPython does not wrap."""

from __future__ import annotations

import ctypes
import os
from typing import Final

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_LIBC.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38

Argument = int | bytes | None


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, value: int, pointer: int = 0) -> None:
    """Set an attribute of this process.

    Raises:
        OSError: the kernel refused.
    """
    _check(_LIBC.prctl(option, value, pointer, 0, 0), f"prctl({option})")


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones.

    Raises:
        OSError: the kernel refused.
    """
    _check(_LIBC.unshare(ctypes.c_int(flags)), f"unshare({flags:#x})")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """Mount a filesystem, or change how one is mounted.

    Raises:
        OSError: the kernel refused.
    """
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = None if options is None else os.fsencode(options)
    _check(_LIBC.mount(*texts, ctypes.c_ulong(flags), data), f"mount {target}")


def capset(header: bytes, data: bytes) -> None:
    """Set this process's capabilities, as the kernel's structures.

    Raises:
        OSError: the kernel refused.
    """
    _check(_LIBC.capset(header, data), "capset")


def syscall(name: str, number: int, *arguments: Argument) -> int:
    """Make a kernel call by number; integers go as longs, bytes as pointers to them.

    Raises:
        OSError: the kernel refused, or has no such call.
    """
    values = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    return _check(_LIBC.syscall(ctypes.c_long(number), *values), name)
