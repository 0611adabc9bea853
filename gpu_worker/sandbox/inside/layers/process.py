"""Process attributes: dies with its parent, gains no privileges, is not traced by others."""

from __future__ import annotations

import os
import signal

from . import libc


def die_with_parent(parent: int) -> None:
    """Be killed when the parent dies; `parent` is its process id.

    The kernel clears this on a change of user, so it is set after that. It belongs to the
    parent's thread: the parent must start children from its main thread. A parent outside of
    this process's process table has the number 0.
    """
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # It died between the fork and the call.
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    libc.prctl(libc.PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Make set-user-id programs run without their privilege."""
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def forbid_tracing() -> None:
    """Keep processes of the same user out of this one's memory."""
    libc.prctl(libc.PR_SET_DUMPABLE, 0)


def prefer_for_killing() -> None:
    """Ask the kernel to kill this process first when the machine's memory runs out."""
    # While this process is not dumpable, its files in /proc belong to root.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    write_to_proc("oom_score_adj", b"1000")
    libc.prctl(libc.PR_SET_DUMPABLE, 0)


def write_to_proc(name: str, data: bytes) -> None:
    """Write to a file of this process in /proc. Not by `open`: a text file takes a millisecond."""
    descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)


def children(pid: int) -> list[int]:
    """Return the process ids of the children of a process with one thread."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]
