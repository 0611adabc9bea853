"""What this machine offers for grading: processors, and which tracks can be graded here."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Final

from gpu_worker.exercises import get, slugs
from gpu_worker.judge.running.builds import kernels_missing
from gpu_worker.messages.protocol import Track
from gpu_worker.messages.queues import QUEUE_CPU
from gpu_worker.sandbox import stand_in

_QUEUES: Final = {Track.NUMPY: (QUEUE_CPU,), Track.CUPY: (QUEUE_CPU,)}
"""On which queues a track's jobs come. Kernels run on a processor: no GPU is needed for them."""
FUNCTIONAL_CUPY: Final = "functional CuPy on CPU"


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
    if not stand_in.folders():
        offered.discard(Track.CUPY)
    return [track for track in Track if track in offered and queue in _QUEUES[track]]


def described(queue: str) -> list[str]:
    """Return what a node says of its devices: its processors, and how kernels run on them."""
    found = processors()
    if Track.CUPY in gradable_tracks(queue):
        missing = kernels_missing()
        found.append(f"{FUNCTIONAL_CUPY}{', array expressions only' if missing else ''}")
    return found
