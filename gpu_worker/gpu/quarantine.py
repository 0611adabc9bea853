"""Quarantined devices, shared by all workers of a machine: a file beside each lock.

A lane that finds a faulty device puts it here, and no lane takes it from then on. The node's watch
examines it again at growing intervals, and releases it when it works.
"""

from __future__ import annotations

import contextlib
import os

from gpu_worker.gpu import lock

MOST_BYTES = 4_000


def put(uuid: str, reason: str) -> None:
    """Put a device into quarantine; the reason is for people.

    Raises:
        OSError: the folder of locks cannot be used.
    """
    place = lock.place_of(uuid, ".quarantine")
    half = place.with_suffix(".part")
    half.write_text(reason[:MOST_BYTES] or "no reason was given", encoding="utf-8")
    os.replace(half, place)


def reason(uuid: str) -> str:
    """Return why a device is in quarantine, empty if it is not."""
    try:
        return lock.place_of(uuid, ".quarantine").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def lift(uuid: str) -> None:
    """Let lanes take a device again."""
    with contextlib.suppress(OSError):
        lock.place_of(uuid, ".quarantine").unlink(missing_ok=True)
