"""Ends every part when the supervisor dies without cleaning up (SIGKILL).

Each part also asks the kernel to die with the supervisor, but its own children (gunicorn's and
Celery's pools) do not inherit that. The watchdog is a small forked process that holds the reading
end of a pipe and knows the parts' process groups; when the pipe closes without a farewell, it kills
them. It holds the data folder's lock until then, so that a new start cannot meet old parts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
FAREWELL = "farewell"


class Watchdog:
    """The supervisor's side. Create it before starting threads: it forks."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writing)
            try:
                _watch(reading)
            finally:
                os._exit(0)
        os.close(reading)

    def add(self, group: int) -> None:
        """Register a process group that must not outlive the supervisor."""
        self._tell(f"+{group}")

    def remove(self, group: int) -> None:
        self._tell(f"-{group}")

    def dismiss(self) -> None:
        """End the watchdog after everything has been stopped in order."""
        self._tell(FAREWELL)
        os.close(self._writing)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def _tell(self, text: str) -> None:
        # A watchdog that somebody killed is missed only if the supervisor is killed as well.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, f"{text}\n".encode())


def _watch(reading: int) -> None:
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    groups: set[int] = set()
    with os.fdopen(reading) as lines:
        for line in lines:
            text = line.strip()
            if text == FAREWELL:
                return
            change = groups.add if text.startswith("+") else groups.discard
            change(int(text[1:]))
    for group in groups:
        kill_group(group, signal.SIGKILL)


def kill_group(group: int, number: signal.Signals) -> bool:
    """Send a signal to a process group; return whether it had any process."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when `parent` dies; for use between fork and exec."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
