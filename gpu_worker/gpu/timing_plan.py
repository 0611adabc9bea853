"""Plans which calls are timed on a device, and at which sizes, from what is known about it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.gpu.examination import Facts
from gpu_worker.judge.cases import dtypes
from gpu_worker.judge.running.timed_calls import ARRAYS_MOVED

LEAST_CALL_BYTES: Final = 500_000_000
"""What a forward call moves at least, so that neither caches nor launches count."""
LEAST_COPY_SECONDS: Final = 0.5e-3
"""And as much as a copy takes this long for: messages to the runner take some hundredths of it."""
CALLS: Final = 7
TIMED_DIM: Final = 4096
HUGE_DIM: Final = 4096
HUGE_ELEMENTS: Final = 1 << 31
"""Beyond what an int counts: an index of that type goes wrong."""
_DEVICE_ARRAYS: Final = 16
"""Of x's size that a device must have room for, the submission's and the judge's together."""
_HUGE_DEVICE_ARRAYS: Final = 4
_HOST_ARRAYS: Final = 6
_HUGE_HOST_ARRAYS: Final = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """Calls on an x (rows, dim). `family` is what a report calls the inputs."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    directions: tuple[str, ...]
    calls: int
    is_timed: bool
    family: str

    @property
    def nbytes(self) -> int:
        """The size of x."""
        return math.prod(self.shape) * self.dtype.itemsize


def timing_plan(exercise: Exercise, facts: Facts, host: int | None = None) -> Plan | None:
    """Return the calls to time, None where the device or the host has no room for enough.

    `host` is the free memory of this machine in bytes, by default what the kernel says.
    """
    if exercise.timed_shape is None and exercise.counted_shape is None:
        return None
    rate = facts.copy_gigabytes_per_second * 1e9
    moved = max(LEAST_CALL_BYTES, rate * LEAST_COPY_SECONDS)
    rows = math.ceil(moved / (ARRAYS_MOVED["forward"] * TIMED_DIM * 4))
    plan = Plan(
        shape=(rows, TIMED_DIM),
        dtype=np.dtype(np.float32),
        directions=exercise.directions,
        calls=CALLS,
        is_timed=True,
        family="timed call",
    )
    return plan if _fits(plan, facts, host, _DEVICE_ARRAYS, _HOST_ARRAYS) else None


def huge_plan(exercise: Exercise, facts: Facts, host: int | None = None) -> Plan | None:
    """Return one forward call on more than 2**31 elements, None where there is no room for it.

    Its elements are bfloat16, the smallest there are: no call where the exercise has none of them.
    """
    if not exercise.has_kernels_for("bfloat16"):
        return None
    plan = Plan(
        shape=(HUGE_ELEMENTS // HUGE_DIM + 1, HUGE_DIM),
        dtype=dtypes.named("bfloat16"),
        directions=("forward",),
        calls=1,
        is_timed=False,
        family="more than 2**31 elements",
    )
    return plan if _fits(plan, facts, host, _HUGE_DEVICE_ARRAYS, _HUGE_HOST_ARRAYS) else None


def _fits(plan: Plan, facts: Facts, host: int | None, on_device: int, on_host: int) -> bool:
    free = free_host_bytes() if host is None else host
    return on_device * plan.nbytes <= facts.free_megabytes << 20 and on_host * plan.nbytes <= free


def free_host_bytes() -> int:
    """Return how much memory of this machine is free for use."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
