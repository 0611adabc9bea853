"""Capabilities: the runner has none, and can never get one."""

from __future__ import annotations

import errno
import struct
from typing import Final

from . import libc

_VERSION_3: Final = 0x20080522
_LAST_POSSIBLE: Final = 63


def drop_bounding_set() -> None:
    """Forbid every capability to come. Before the user changes: it needs a capability itself.

    A process without that capability has none to lose, and `no_new_privs` lets none come.
    """
    for capability in range(_LAST_POSSIBLE + 1):
        try:
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):
                # EINVAL: beyond the last that this kernel knows.
                return
            raise


def drop_all() -> None:
    """Give up all capabilities: effective, permitted and inheritable, and so ambient ones."""
    header = struct.pack("=Ii", _VERSION_3, 0)
    libc.capset(header, bytes(2 * 3 * 4))
