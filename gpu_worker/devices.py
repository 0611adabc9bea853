"""What this machine offers for grading: processors, and which tracks can be graded here."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Final

from gpu_worker.exercises import get, slugs
from gpu_worker.protocol import Track
from gpu_worker.queues import QUEUE_CPU, QUEUE_GPU

_QUEUES: Final = {Track.NUMPY: QUEUE_CPU, Track.CUPY: QUEUE_GPU}


def processors() -> list[str]:
    """Return the distinct names of the processors, or the machine's architecture."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = {
        line.partition(":")[2].strip()[:200]
        for line in text.splitlines()
        if line.startswith("model name")
    }
    return sorted(names) or [platform.machine()]


def gradable_tracks(queue: str) -> list[Track]:
    """Return the tracks that come over this queue and that at least one exercise offers."""
    offered = {track for slug in slugs() for track in get(slug).tracks}
    return [track for track in Track if track in offered and _QUEUES[track] == queue]
