"""Resource limits of the runner. It is one process, so they hold for the whole submission."""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

STACK_BYTES: Final = 64 << 20
OPEN_FILES: Final = 64
PENDING_SIGNALS: Final = 64


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may use. Sizes in bytes, times in seconds.

    `wall_seconds` bounds what it computes and how long it waits of its own accord; for its turn on
    a busy machine it has until `patience_seconds` by the clock. `scratch` is where the supervisor
    makes the run's folder at the level without walls, else empty.
    """

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int
    file_bytes: int
    scratch: str = ""
    patience_seconds: float = 45.0

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> RunLimits:
        return cls(**json.loads(data))


def apply(limits: RunLimits, changed: Mapping[int, int] | None = None) -> None:
    """Limit this process, finally: hard limits too. `changed` replaces some of the usual ones.

    No further process or thread can be started: the limit counts all of the user's processes,
    of which this is one, and does not bind root.
    """
    changed = changed or {}
    cpu = math.ceil(limits.cpu_seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    for name, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, 1),
        (resource.RLIMIT_STACK, STACK_BYTES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, PENDING_SIGNALS),
        # Neither a better priority nor real-time scheduling.
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
    ):
        wanted = changed.get(name, value)
        resource.setrlimit(name, (wanted, wanted))
