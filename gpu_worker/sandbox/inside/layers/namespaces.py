"""Namespaces: the runner gets its own filesystem, process table, network and IPC.

The supervisor enters them; the runner, its child, is process 1 of the new process table, so the
kernel kills everything in it when the runner ends.
"""

from __future__ import annotations

import os
from typing import Final

from . import libc, process

SCRATCH: Final = "/scratch"
SCRATCH_FILES: Final = 1024
HOST_NAME: Final = "runner"

_NEW_MOUNTS: Final = 0x00020000
_NEW_CGROUPS: Final = 0x02000000
_NEW_HOST_NAME: Final = 0x04000000
_NEW_IPC: Final = 0x08000000
_NEW_USERS: Final = 0x10000000
_NEW_PROCESSES: Final = 0x20000000
_NEW_NETWORK: Final = 0x40000000
_ALL: Final = _NEW_MOUNTS | _NEW_CGROUPS | _NEW_HOST_NAME | _NEW_IPC | _NEW_PROCESSES | _NEW_NETWORK

_READ_ONLY: Final = 1
_NO_SET_USER_ID: Final = 2
_NO_DEVICES: Final = 4
_NO_PROGRAMS: Final = 8
HARDENED: Final = _NO_SET_USER_ID | _NO_DEVICES | _NO_PROGRAMS
"""Mounted so, nothing in it runs with another user's rights, is a device, or runs at all."""
_REMOUNT: Final = 32
_RECURSIVE: Final = 16384
_PRIVATE: Final = 1 << 18


def enter(user: int | None) -> None:
    """Enter new namespaces: a private scratch folder, an empty /proc, no network.

    `user` is whom the runner becomes; None: nobody, an ordinary user stays himself, in a user
    namespace that makes him powerful over the other new ones only.

    Raises:
        OSError: the kernel refused.
    """
    owner = os.getuid() if user is None else user
    if user is None:
        _unshare_with_users()
    else:
        libc.unshare(_ALL)
    # No mount made here may propagate to the namespaces outside.
    libc.mount("none", "/", None, _RECURSIVE | _PRIVATE, None)
    empty = "size=4k,nr_inodes=2,mode=0555"
    libc.mount("none", "/proc", "tmpfs", HARDENED | _READ_ONLY, empty)
    options = f"size=4k,nr_inodes={SCRATCH_FILES},mode=0700,uid={owner}"
    if user is not None:
        options += f",gid={owner}"
    libc.mount("none", SCRATCH, "tmpfs", HARDENED, options)


def resize_scratch(size: int) -> None:
    """Set how many bytes the scratch folder of these namespaces holds.

    Raises:
        OSError: the kernel refused.
    """
    libc.mount("none", SCRATCH, None, HARDENED | _REMOUNT, f"size={size}")


def _unshare_with_users() -> None:
    user, group = os.getuid(), os.getgid()
    # While this process is not dumpable, its files in /proc belong to root.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    libc.unshare(_NEW_USERS | _ALL)
    process.write_to_proc("setgroups", b"deny")
    process.write_to_proc("uid_map", b"%d %d 1" % (user, user))
    process.write_to_proc("gid_map", b"%d %d 1" % (group, group))
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
