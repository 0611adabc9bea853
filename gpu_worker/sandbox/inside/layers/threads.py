"""Exactly one thread: Landlock and seccomp hold for the thread that applies them."""

from __future__ import annotations

import errno
import os
from typing import Final

from . import libc

_CLONE_THREAD: Final = 0x00010000


class ThreadsError(RuntimeError):
    """There is more than one thread where there must be one."""


def assert_one() -> None:
    """Check with the kernel that this process has one thread; /proc is not needed.

    Raises:
        ThreadsError: it has more.
    """
    try:
        # Has no effect, but fails in a process with several threads.
        libc.unshare(_CLONE_THREAD)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise ThreadsError("this process has more than one thread") from None
        # A container's filter may forbid the call, so count instead.
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            raise ThreadsError(f"this process has {threads} threads") from None
