"""Measures from outside how long a process computed, and how long it waited by its own choice.

By wall-clock time a program would seem slow on a busy machine. So time in which it was ready to run
but not scheduled is excluded, and so is any wait that the judge asks for.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_BLOCKED: Final = (b"S", b"T", b"t")
"""States of a process that waits for an event: a sleep, input, a lock; or that is stopped."""
_STATE, _USER, _SYSTEM = 0, 11, 12
"""Places of the fields of /proc/PID/stat behind the name, which may hold anything."""


class OwnTime:
    """Looks at this process's only child. `proc` is a descriptor of /proc, which stays open.

    Where it cannot be looked at, all time is its own: then the clock is all there is.
    """

    def __init__(self, proc: int) -> None:
        self.computed = self.waited = 0.0
        """Seconds of processor time, plus seconds of waiting that nobody else caused."""
        self.looks = self.found_waiting = 0
        self._stat = -1
        with contextlib.suppress(OSError, ValueError):
            own = os.readlink("self", dir_fd=proc)
            children = os.open(f"{own}/task/{own}/children", os.O_RDONLY, dir_fd=proc)
            (child,) = os.read(children, 256).split()
            os.close(children)
            self._stat = os.open(f"{child.decode()}/stat", os.O_RDONLY, dir_fd=proc)

    @property
    def seconds(self) -> float:
        """What counts towards the limit."""
        return self.computed + self.waited

    @property
    def waits_mostly(self) -> bool:
        """Whether it was found waiting more often than computing, or ready to."""
        return 2 * self.found_waiting > self.looks

    def look(self, since: float, *, excused: bool) -> None:
        """Look at the process, `since` so many seconds of rest between two looks.

        `excused`: what it waits for now is not its own doing. The rest is what was asked for, not
        what it took: whoever looks may have had no turn either.
        """
        self.looks += 1
        fields = self._fields()
        if not fields:
            self.waited += since
            return
        computed = (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS
        ran, self.computed = computed - self.computed, computed
        if fields[_STATE] in _BLOCKED and not excused:
            self.found_waiting += 1
            self.waited += max(since - ran, 0.0)

    def _fields(self) -> list[bytes]:
        if self._stat < 0:
            return []
        try:
            return os.pread(self._stat, 1024, 0).rpartition(b")")[2].split()
        except OSError:
            return []
