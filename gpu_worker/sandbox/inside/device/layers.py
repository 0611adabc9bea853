"""The layers of a runner with a device, where they differ from those of one without.

- `/proc` is one of the runner's own process table, not an empty folder: the driver names its
  threads in /proc/self/task and reads what the kernel module shows of itself.
- The process stays dumpable: otherwise its files in /proc belong to root, and naming a thread
  fails. It is alone in its process table, and has no core file.
- The address space has no limit, since the driver reserves more of it than there is memory; private
  data has one (RLIMIT_DATA), and the supervisor watches resident memory.
- A limited number of threads is allowed; processes are not (seccomp).
"""

from __future__ import annotations

import resource
from typing import Final

from ..layers import landlock, libc, namespaces
from ..layers.limits import RunLimits
from ..layers.memory import PAGE, MemoryWatch
from .walls import DeviceWalls

PROC: Final = "/proc"
THREAD_NAMES: Final = "/proc/self/task"
_STATM_RESIDENT: Final = 1


def mount_own_proc() -> None:
    """Mount a /proc of this process's own process table over the empty one.

    Before the right to mount is given up, and by the process itself: it is of whoever mounts it.

    Raises:
        OSError: the kernel refused, for example since the container masks parts of /proc.
    """
    libc.mount("proc", PROC, "proc", namespaces.HARDENED, None)


def stay_dumpable() -> None:
    """Let this process's files in /proc belong to its own user."""
    libc.prctl(libc.PR_SET_DUMPABLE, 1)


def changed_limits(walls: DeviceWalls, run: RunLimits) -> dict[int, int]:
    """Return the limits that replace those of a runner without a device."""
    wanted = {
        resource.RLIMIT_AS: resource.RLIM_INFINITY,
        resource.RLIMIT_NPROC: walls.threads,
        resource.RLIMIT_NOFILE: walls.open_files,
        # Host memory that a device reads directly is pinned.
        resource.RLIMIT_MEMLOCK: run.memory_bytes,
    }
    return {name: _at_most(value, resource.getrlimit(name)[1]) for name, value in wanted.items()}


def _at_most(value: int, hard: int) -> int:
    """Return the value, or the present hard limit if that is lower: it cannot be raised."""
    finite = [limit for limit in (value, hard) if limit != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY)


def landlock_rules(walls: DeviceWalls) -> list[tuple[str, int]]:
    """Return paths and rights that are granted beyond those of a runner without a device."""
    nodes = landlock.READ_FILE | landlock.WRITE_FILE | landlock.IOCTL_DEVICE
    return [
        *((node, nodes) for node in walls.nodes),
        (PROC, landlock.READ),
        (THREAD_NAMES, landlock.WRITE_FILE | landlock.TRUNCATE),
    ]


class ResidentWatch(MemoryWatch):
    """Looks at the memory that the runner has in use, not at the address space it reserved.

    `shared_bytes` is what it may share with the judge beside its limit. There is no limit of the
    kernel's on shared memory of its own, so once over it is enough.
    """

    def __init__(self, proc: int, limit_bytes: int, shared_bytes: int) -> None:
        super().__init__(proc, limit_bytes + shared_bytes)

    def is_stuck(self) -> bool:
        """Look at the process; true if it has more in use than it may."""
        return self._is_at_limit()

    def _is_at_limit(self) -> bool:
        fields = self._fields()
        return len(fields) > _STATM_RESIDENT and int(fields[_STATM_RESIDENT]) * PAGE > self._limit
