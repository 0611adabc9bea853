"""Limits of a submission on a device: time, host memory and device memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.sandbox.profile import THREADS

DEVICE_SHARE: Final = 0.4
"""Of the device's memory: the judge's own process needs as much while it times and compares."""
CONTEXTS_MEGABYTES: Final = 2_048
"""What the driver takes for the processes that use a device, beyond what they ask for."""
_LIMITS: Final[Mapping[str, float]] = {
    "wall_seconds": 25.0,
    "cpu_seconds": 40.0,
    "memory_megabytes": 8_192.0,
    "scratch_megabytes": 64.0,
    "threads": float(THREADS),
}
"""What differs from runs without a device. NVIDIA's compiler runs in the submission's process."""


def device_megabytes(facts: Facts) -> int:
    """Return how much of a device's memory a submission may take."""
    return int(DEVICE_SHARE * facts.memory_megabytes)


def limits_of(facts: Facts) -> dict[str, float]:
    """Return the limits of a run on a device, by names that end in their unit."""
    return {**_LIMITS, "device_megabytes": float(device_megabytes(facts))}


def watched_megabytes(facts: Facts, used: int) -> int:
    """Return how much of a device may be in use by all, where `used` was before the run.

    The submission's share twice over, since the judge's process has as much beside it, and what
    the driver takes; never more than there is.
    """
    return min(used + 2 * device_megabytes(facts) + CONTEXTS_MEGABYTES, facts.memory_megabytes - 1)
