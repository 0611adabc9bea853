"""The first submission that a worker runs: tries what must not be possible, and reports it.

It runs behind the same walls as a learner's file, and prints one JSON object with what it found.
`PLANTED` names a file that the worker planted for it, `HARNESS` one that namespaces show and
Landlock hides.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable

PLANTED = "/planted"
HARNESS = "/harness"

_LIBC = ctypes.CDLL(None)
_CLONE_NEWUSER = 0x10000000
_PR_GET_DUMPABLE, _PR_GET_SECCOMP, _PR_GET_NO_NEW_PRIVS = 3, 21, 39
_LIMITS = ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE", "STACK", "MEMLOCK")


def possible(attempt: Callable[[], object]) -> bool:
    """Return whether something could be done."""
    try:
        attempt()
    except (OSError, RuntimeError):
        return False
    return True


def start_process() -> None:
    if os.fork() == 0:
        os._exit(0)


def leave_namespace() -> None:
    if _LIBC.unshare(_CLONE_NEWUSER) != 0:
        raise OSError


def read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def capabilities() -> list[int]:
    """Return the effective, permitted and inheritable sets, low and high words."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    if _LIBC.capget(header, data) != 0:
        raise OSError
    return list(data)


def descriptors() -> list[int]:
    """Return the open descriptors."""
    found = []
    for number in range(resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        if possible(lambda number=number: os.fstat(number)):  # type: ignore[misc]
            found.append(number)
    return found


ATTEMPTS: dict[str, Callable[[], object]] = {
    "opened a network socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "opened a Unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
    "started a process": start_process,
    "started a thread": threading.Thread(target=int).start,
    "started a program": lambda: os.execv(sys.executable, ["python"]),  # noqa: S606
    "made a user namespace": leave_namespace,
    "signalled process 1": lambda: os.kill(1, 0),
    "signalled its parent": lambda: os.kill(os.getppid() or 1, 0),
    "read /etc/passwd": lambda: read("/etc/passwd"),
    "read a secret file": lambda: read(PLANTED),
    "read the table of processes": lambda: read("/proc/self/status"),
    "wrote to /": lambda: os.mkdir("/canary"),
    "wrote to /tmp": lambda: os.mkdir("/tmp/canary"),  # noqa: S108
    "wrote beside the secret": lambda: os.mkdir(f"{PLANTED}.canary"),
    "read the harness": lambda: read(HARNESS),
    "wrote to its scratch folder": lambda: os.mkdir("canary"),
}


def main() -> None:
    found = {
        # Executing a program would replace this one: it comes last, and only a failure gets here.
        "possible": [
            name
            for name, attempt in ATTEMPTS.items()
            if name != "started a program" and possible(attempt)
        ],
        "process": os.getpid(),
        "users": [*os.getresuid(), *os.getresgid(), *os.getgroups()],
        "capabilities": capabilities(),
        "no_new_privileges": _LIBC.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
        "dumpable": _LIBC.prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0),
        "seccomp": _LIBC.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0),
        "secret_visible": os.path.exists(PLANTED),
        "descriptors": descriptors(),
        "environment": sorted(os.environ),
        "limits": {
            name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in _LIMITS
        },
    }
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    if possible(ATTEMPTS["started a program"]):
        raise AssertionError("unreachable: a started program replaces this one")
    sys.stdout.write("end\n")


main()
