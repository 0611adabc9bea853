"""The supervisor: one per submission, between zygote and runner. Keeps the limits, reports.

What it measures is the record: the runner's own words about time and memory count for nothing.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from typing import NoReturn

from . import runner
from .layers import process
from .layers.limits import RunLimits


def supervise(
    run: RunLimits, parent: int, job: int, result: int, output: int, status: socket.socket
) -> NoReturn:
    """Run the job in a runner and send how it ended over `status`. Ends the process."""
    process.die_with_parent(parent)
    process.adopt_orphans()
    scratch = _make_scratch(run)
    started = time.monotonic()
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        status.close()
        runner.enter(run, own, scratch, job, result, output)
    for descriptor in (job, result, output):
        os.close(descriptor)
    ending = _wait(pid, run.wall_seconds, status)
    _, code, usage = os.wait4(pid, 0)
    report = {
        "ending": ending,
        "exit_code": os.WEXITSTATUS(code) if os.WIFEXITED(code) else None,
        "signal": os.WTERMSIG(code) if os.WIFSIGNALED(code) else None,
        "wall_seconds": time.monotonic() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_kilobytes": usage.ru_maxrss,
    }
    _kill_orphans(own)
    shutil.rmtree(scratch, ignore_errors=True)
    status.send(json.dumps(report).encode("ascii"))
    os._exit(0)


def _make_scratch(run: RunLimits) -> str:
    scratch = tempfile.mkdtemp(prefix="run-", dir=run.scratch)
    if run.user is not None:
        os.chown(scratch, run.user, run.user)
    return scratch


def _wait(pid: int, wall_seconds: float, status: socket.socket) -> str:
    """Wait for the runner's end, the wall limit, or the judge hanging up; kill it if needed."""
    descriptor = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([descriptor, status.fileno()], [], [], wall_seconds)
        if descriptor in ready:
            return "ended"
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        return "cancelled" if ready else "timed_out"
    finally:
        os.close(descriptor)


def _kill_orphans(own: int) -> None:
    """Kill what the runner left behind, should it have managed to start anything."""
    while left := process.children(own):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)
