"""Landlock: the runner may read Python and NumPy and write to its scratch folder, nothing else.

It holds even where namespaces fail, and it cannot be removed. It applies per thread, so the process
must have only one. Programs may not be executed: EXECUTE is handled and granted nowhere
(loading shared objects does not need it).
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Sequence
from typing import Final

from . import libc

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_FOR_VERSION: Final = 1
_PATH_BENEATH: Final = 1

WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
_REMOVE_FOLDER: Final = 1 << 4
_REMOVE_FILE: Final = 1 << 5
_MAKE_FOLDER: Final = 1 << 7
_MAKE_FILE: Final = 1 << 8
_MOVE: Final = 1 << 13
TRUNCATE: Final = 1 << 14
IOCTL_DEVICE: Final = 1 << 15

READ: Final = READ_FILE | _READ_FOLDER
_SCRATCH: Final = (
    *(READ, WRITE_FILE, _REMOVE_FOLDER, _REMOVE_FILE),
    *(_MAKE_FOLDER, _MAKE_FILE, _MOVE, TRUNCATE),
)
_OF_FILES: Final = WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
_DEVICES: Final = (
    ("/dev/null", READ_FILE | WRITE_FILE),
    ("/dev/zero", READ_FILE),
    ("/dev/random", READ_FILE),
    ("/dev/urandom", READ_FILE),
)

# Rights over files by the version that brought them: 1 the first 13, 2 moving, 3 truncating,
# 5 device ioctls. Version 4 brought TCP, 6 abstract sockets and signals; later ones brought
# nothing that needs to be handled here.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP: Final = 0b11
_SCOPES: Final = 0b11


def version() -> int:
    """Return the version of Landlock that the kernel offers, 0 where it offers none."""
    try:
        return libc.syscall("landlock", _CREATE_RULESET, None, 0, _ASK_FOR_VERSION)
    except OSError:
        return 0


def restrict(
    offered: int,
    readable: Sequence[str],
    scratch: str,
    further: Sequence[tuple[str, int]] = (),
) -> None:
    """Restrict this process, for good. Needs `no_new_privs`.

    `offered` is the version to use at most; `readable` are the folders to be read, `scratch` the
    one to be written, empty for none; `further` are paths with the rights granted to them.

    Raises:
        OSError: the kernel refused.
    """
    handled = (1 << _FILE_RIGHTS[min(offered, max(_FILE_RIGHTS))]) - 1
    ruleset = _make_ruleset(offered, handled)
    try:
        for path in readable:
            _allow(ruleset, path, READ & handled)
        for path, rights in (*_DEVICES, *further):
            _allow(ruleset, path, rights & handled)
        if scratch:
            _allow(ruleset, scratch, sum(_SCRATCH) & handled)
        libc.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _make_ruleset(offered: int, handled: int) -> int:
    # The structure grew with the versions; older kernels accept only the shorter one.
    if offered < 4:
        attributes = struct.pack("=Q", handled)
    elif offered < 6:
        attributes = struct.pack("=QQ", handled, _TCP)
    else:
        attributes = struct.pack("=QQQ", handled, _TCP, _SCOPES)
    return libc.syscall("landlock_create_ruleset", _CREATE_RULESET, attributes, len(attributes), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        # Missing, or not accessible to this user anyway: for example in root's home.
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        libc.syscall("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
