"""The kernel calls of a runner that uses an NVIDIA device: the usual list, and what CUDA needs.

A profile of its own: the usual list stays as it is. Each call beyond it, with what it is for:

- `clone`, for threads and nothing else: the driver and NVIDIA's compiler start some. New processes
  and namespaces need other flags, which are refused; `clone3` stays "not implemented", so that the
  C library falls back. `set_robust_list`, `rseq`, `set_tid_address`, `tgkill` within the process,
  `membarrier` and the `sched_get*` calls belong to threads.
- `ioctl` with any command: all work reaches the driver that way, and its commands are not public.
  The filter does not see which file is meant; Landlock, from ABI 5, allows it on the bound device
  nodes alone.
- `memfd_create`, and sealing what it made: initialising the driver fails without (error 304).
  `seccomp`, to revoke `memfd_create` once the device is in use: memory in such files does not count
  as the process's own, so no limit would bound it.
- `get_mempolicy`, `mbind`: on which node host memory lies. `munlock` beside `mlock`.
- `statfs`, `fstatfs`: which file system a path is on.
- `sysinfo`: how much memory the host has, by which the driver may size its own.

Sockets stay refused: CUDA opens one to look for NVIDIA's multi-process service, which does not run
here. **Not yet run on a device**: the list follows NVIDIA's and others' notes; docs/how-to
says how it is checked on one.
"""

from __future__ import annotations

import functools
from typing import Final

from gpu_worker.sandbox import syscalls

THREADS: Final = (
    *("set_robust_list", "rseq", "set_tid_address", "membarrier", "sched_getparam"),
    *("sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min"),
)
MEMORY: Final = ("memfd_create", "get_mempolicy", "mbind", "munlock", "sysinfo")
FOR_THE_START: Final = ("memfd_create",)
"""Revoked before the learner's code runs."""
FILES: Final = ("statfs", "fstatfs")
ANY_COMMAND: Final = ("ioctl",)

_CLONE_NEEDED: Final = 0x00000100 | 0x00000800 | 0x00010000
"""VM, SIGHAND, THREAD: together they make a thread of this process."""
_CLONE_FORBIDDEN: Final = 0x7E020000 | 0x00004000 | 0x00001000
"""New namespaces; VFORK; a descriptor of a process."""
_OWN_PROCESS: Final = 1
"""The runner is process 1 of its process table."""
_SEALS: Final = (1033, 1034)

_SET_MODE_FILTER: Final = 1

BY_BITS: Final = {("clone", 0): (_CLONE_NEEDED | _CLONE_FORBIDDEN, _CLONE_NEEDED)}


@functools.cache
def program() -> bytes:
    """Return the filter for a runner with a device as BPF instructions for this machine.

    Raises:
        SandboxError: libseccomp or pyseccomp is not installed.
    """
    further = (*THREADS, *MEMORY, *FILES, *ANY_COMMAND)
    by_low_word = {
        key: values for key, values in syscalls.BY_LOW_WORD.items() if key[0] not in ANY_COMMAND
    }
    by_low_word["fcntl", 1] = (*by_low_word["fcntl", 1], *_SEALS)
    by_low_word["tgkill", 0] = (_OWN_PROCESS,)
    by_low_word["seccomp", 0] = (_SET_MODE_FILTER,)
    missing = tuple(name for name in syscalls.NOT_IMPLEMENTED if name not in further)
    return syscalls.build((*syscalls.ALLOWED, *further), missing, by_low_word, BY_BITS)


@functools.cache
def sealing() -> bytes:
    """Return the second filter, which refuses what only the start of a device needs.

    Raises:
        SandboxError: libseccomp or pyseccomp is not installed.
    """
    return syscalls.build_refusing(FOR_THE_START)
