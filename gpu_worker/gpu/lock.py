"""A lock per device, shared by all workers of a machine: one process at a time."""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

FOLDER: Final = "LEARNML_GPU_LOCK_FOLDER"
"""Names the folder of the locks; containers that share a device must share it."""


class BusyError(Exception):
    """Another process of this machine uses the device."""


@contextmanager
def device_lock(uuid: str) -> Iterator[None]:
    """Hold a device's lock; the kernel gives it back even if this process is killed.

    Raises:
        BusyError: another process holds it.
        OSError: the folder of locks cannot be used.
    """
    place = place_of(uuid, ".lock")
    descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"Another process uses the device {uuid}.") from None
        yield
    finally:
        os.close(descriptor)


def place_of(uuid: str, ending: str) -> Path:
    """Return the file about a device in the folder that workers of a machine share.

    Raises:
        OSError: the folder cannot be made.
    """
    return _folder() / f"{re.sub(r'[^A-Za-z0-9-]', '_', uuid)}{ending}"


def _folder() -> Path:
    default = Path(tempfile.gettempdir()) / f"learnml-gpu-locks-{os.geteuid()}"
    folder = Path(os.environ.get(FOLDER) or default)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
