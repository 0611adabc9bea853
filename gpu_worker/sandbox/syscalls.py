"""The kernel calls that learners' code may make, as a seccomp program.

An allow-list: what is not here is refused with "operation not permitted", and calls of another
architecture's numbering kill. Left out, besides everything that reaches other processes, the
network, mounts or keys:

- starting processes and threads: the resource limits then hold for the submission as a whole;
- `flock` and record locks: a lock on a file that two runners can read is a message between them;
- `mincore` and `preadv2`: they tell which files others have read lately;
- `sysinfo`: it tells the machine's load and its free memory, so what others do. The C library asks
  it for the size of the memory, and goes on without an answer;
- `io_uring`, `userfaultfd` and `memfd_create`: "not implemented", so that programs fall back.
"""

from __future__ import annotations

import errno
import functools
import importlib
import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Final

from gpu_worker.sandbox.errors import SandboxError

_READ_AND_WRITE: Final = (
    *("read", "pread64", "readv", "preadv", "write", "pwrite64", "writev", "pwritev"),
    *("lseek", "close", "close_range", "dup", "dup2", "dup3", "pipe", "pipe2"),
    *("poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_create", "epoll_ctl"),
    *("epoll_wait", "epoll_pwait", "eventfd2"),
)
_FILES: Final = (
    *("open", "openat", "stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat"),
    *("faccessat2", "readlink", "readlinkat", "getdents64", "getcwd", "chdir", "fchdir", "umask"),
    *("truncate", "ftruncate", "fallocate", "fsync", "fdatasync", "mkdir", "mkdirat", "unlink"),
    *("unlinkat", "rmdir", "rename", "renameat", "renameat2", "utimensat"),
)
_MEMORY: Final = ("mmap", "mprotect", "munmap", "mremap", "madvise", "brk", "msync", "mlock")
_SIGNALS: Final = (
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "rt_sigtimedwait"),
    *("rt_sigpending", "rt_sigsuspend", "pause", "alarm", "setitimer", "getitimer"),
)
_TIME: Final = (
    *("clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time"),
    *("times", "getrusage", "restart_syscall"),
)
_SELF: Final = (
    *("getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getgroups"),
    *("getresuid", "getresgid", "getpgrp", "capget", "getrlimit", "uname", "getrandom"),
    *("futex", "sched_yield", "sched_getaffinity", "getcpu", "exit", "exit_group"),
)
ALLOWED: Final = (*_READ_AND_WRITE, *_FILES, *_MEMORY, *_SIGNALS, *_TIME, *_SELF)
"""Allowed with any arguments."""

NOT_IMPLEMENTED: Final = ("clone3", "io_uring_setup", "userfaultfd", "memfd_create")
"""Answered as by a kernel that does not have them: libraries then use what is refused or allowed
by its arguments."""

_LOW_WORD: Final = 0xFFFFFFFF
# The kernel looks at the low word of these arguments only, so the filter must do the same.
BY_LOW_WORD: Final[dict[tuple[str, int], tuple[int, ...]]] = {
    # DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC: nothing about owners, locks, leases, pipes.
    ("fcntl", 1): (0, 1, 2, 3, 4, 1030),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
    ("ioctl", 1): (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451),
    # GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, GET_NO_NEW_PRIVS, SET_VMA.
    ("prctl", 0): (3, 15, 16, 21, 39, 0x53564D41),
}


@functools.cache
def program() -> bytes:
    """Return the filter as BPF instructions for this machine.

    Raises:
        SandboxError: libseccomp or pyseccomp is not installed.
    """
    return build(ALLOWED, NOT_IMPLEMENTED, BY_LOW_WORD)


def build(
    allowed: Sequence[str],
    not_implemented: Sequence[str],
    by_low_word: Mapping[tuple[str, int], Sequence[int]],
    by_bits: Mapping[tuple[str, int], tuple[int, int]] | None = None,
) -> bytes:
    """Return a filter that allows these calls alone, and reading this process's own limits.

    `by_low_word` allows a call where an argument's low word has one of the values, `by_bits` where
    an argument under a mask has a value: (mask, value).

    Raises:
        SandboxError: libseccomp or pyseccomp is not installed.
    """
    seccomp = _library()
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    for name in allowed:
        _add(seccomp, rules, seccomp.ALLOW, name)
    for name in not_implemented:
        _add(seccomp, rules, seccomp.ERRNO(errno.ENOSYS), name)
    for (name, argument), values in by_low_word.items():
        for value in values:
            condition = seccomp.Arg(argument, seccomp.MASKED_EQ, _LOW_WORD, value)
            _add(seccomp, rules, seccomp.ALLOW, name, condition)
    for (name, argument), (mask, value) in (by_bits or {}).items():
        condition = seccomp.Arg(argument, seccomp.MASKED_EQ, mask, value)
        _add(seccomp, rules, seccomp.ALLOW, name, condition)
    _add(
        seccomp,
        rules,
        seccomp.ALLOW,
        "prlimit64",
        # Reading this process's own limits.
        seccomp.Arg(0, seccomp.MASKED_EQ, _LOW_WORD, 0),
        seccomp.Arg(2, seccomp.EQ, 0),
    )
    return _exported(rules)


def build_refusing(refused: Sequence[str]) -> bytes:
    """Return a filter, to be put on beside another, that answers these calls as not implemented.

    Raises:
        SandboxError: libseccomp or pyseccomp is not installed.
    """
    seccomp = _library()
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in refused:
        _add(seccomp, rules, seccomp.ERRNO(errno.ENOSYS), name)
    return _exported(rules)


def _exported(rules: Any) -> bytes:
    descriptor = os.memfd_create("filter")
    with os.fdopen(descriptor, "w+b", buffering=0) as file:
        rules.export_bpf(file)
        file.seek(0)
        return bytes(file.readall())


def _add(seccomp: ModuleType, rules: object, action: int, name: str, *conditions: object) -> None:
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    # Unknown to this version of libseccomp, or of other architectures only: it stays refused.
    if number >= 0:
        rules.add_rule(action, number, *conditions)  # type: ignore[attr-defined]


def _library() -> ModuleType:
    try:
        return importlib.import_module("pyseccomp")
    except ImportError as error:
        raise SandboxError(
            "the Python package pyseccomp is not installed; it is in requirements/worker.txt"
        ) from error
    except (RuntimeError, OSError) as error:
        raise SandboxError(
            "libseccomp is not installed. On Debian and Ubuntu: apt-get install libseccomp2"
        ) from error
