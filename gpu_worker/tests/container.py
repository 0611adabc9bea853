"""Imitates what a container changes for a worker, without an engine: a filter, and masked files.

python -m gpu_worker.tests.container FILTER COMMAND... loads a filter and becomes the command:
`engine` refuses what an engine's own filter refuses of namespaces and mounts, `shipped` is the
profile in deploy/. Filters are inherited and cannot be taken off.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import pyseccomp

PROFILE = Path(__file__).resolve().parents[2] / "deploy" / "seccomp-worker.json"
ENGINE_REFUSES = ("unshare", "mount", "umount2", "pivot_root", "setns")


def refused() -> list[str]:
    """Return the kernel calls that the shipped profile refuses.

    Raises:
        AssertionError: it holds rules that are not understood here.
    """
    profile = json.loads(PROFILE.read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    (rule,) = profile["syscalls"]
    assert (rule["action"], rule["errnoRet"]) == ("SCMP_ACT_ERRNO", errno.EPERM)
    assert set(rule) == {"comment", "names", "action", "errnoRet"}
    return list(rule["names"])


def load(names: list[str]) -> None:
    """Refuse these kernel calls to this process and its children, for good."""
    rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in names:
        number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
        # -1: this library does not know it. Below: another architecture has it.
        if number >= 0:
            rules.add_rule(pyseccomp.ERRNO(errno.EPERM), number)
    rules.load()


if __name__ == "__main__":
    load(list(ENGINE_REFUSES) if sys.argv[1] == "engine" else refused())
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606
