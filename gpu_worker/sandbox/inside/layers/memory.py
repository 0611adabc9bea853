"""Measures from outside how much of its address space a process uses."""

from __future__ import annotations

import contextlib
import os
from typing import Final

STUCK_LOOKS: Final = 5
"""A process found at its limit this often is not there by chance: it keeps being refused memory."""
_ROOM_SHARE: Final = 32
"""A process is at its limit if it could not get one part in this many more."""
PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def open_proc() -> int:
    """Return a descriptor of /proc, to be taken before it is covered by another."""
    return os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


class MemoryWatch:
    """Looks at this process's only child, by whatever number `proc` knows it.

    Where it cannot be looked at, it is never stuck: its other limits hold all the same.
    """

    def __init__(self, proc: int, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._found = 0
        self._statm = -1
        with contextlib.suppress(OSError, ValueError):
            own = os.readlink("self", dir_fd=proc)
            children = os.open(f"{own}/task/{own}/children", os.O_RDONLY, dir_fd=proc)
            (child,) = _read(children).split()
            os.close(children)
            self._statm = os.open(f"{child.decode()}/statm", os.O_RDONLY, dir_fd=proc)
        os.close(proc)

    def is_stuck(self) -> bool:
        """Look at the process; true once it was found at its limit too often."""
        self._found += self._is_at_limit()
        return self._found >= STUCK_LOOKS

    def _is_at_limit(self) -> bool:
        fields = self._fields()
        return bool(fields) and int(fields[0]) * PAGE > self._limit - self._limit // _ROOM_SHARE

    def _fields(self) -> list[bytes]:
        """Return the process's sizes in pages, the address space first; nothing if it is gone."""
        if self._statm < 0:
            return []
        try:
            return os.pread(self._statm, 128, 0).split()
        except OSError:
            return []


def _read(descriptor: int) -> bytes:
    return os.read(descriptor, 256)
