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
from dataclasses import dataclass
from typing import Final, NoReturn

from . import runner
from .layers import namespaces, process
from .layers.limits import RunLimits
from .walls import Walls

SETUP_SECONDS: Final = 10.0
"""How long the runner may take to put on its layers."""
_MAX_COMPLAINT: Final = 2_000


@dataclass(frozen=True, slots=True)
class Order:
    """One run: walls, limits, the zygote's process id, and the four descriptors."""

    walls: Walls
    run: RunLimits
    zygote: int
    job: int
    result: int
    output: int
    status: int


def supervise(order: Order) -> NoReturn:
    """Run the job in a runner and send how it ended over the status socket. Ends the process."""
    status = socket.socket(fileno=order.status)
    try:
        report = _run(order, status)
    except OSError as error:
        report = {"setup_error": f"{type(error).__name__}: {error}"}
    status.send(json.dumps(report).encode("ascii"))
    os._exit(0)


def _run(order: Order, status: socket.socket) -> dict[str, object]:
    begun = time.monotonic()
    process.die_with_parent(order.zygote)
    process.prefer_for_killing()
    if not order.walls.namespaces:
        process.adopt_orphans()
    scratch = _make_scratch(order)
    setup, setup_end = os.pipe()
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        status.close()
        os.close(setup)
        runner.enter(order, own, scratch, setup_end)
    for descriptor in (order.job, order.result, order.output, setup_end):
        os.close(descriptor)
    complaint = _await_setup(setup)
    started = time.monotonic()
    ending = _wait(pid, 0.0 if complaint else order.run.wall_seconds, status)
    _, code, usage = os.wait4(pid, 0)
    ended = time.monotonic()
    if not order.walls.namespaces:
        # With namespaces, the kernel has killed all that the runner left behind.
        _kill_orphans(own)
    if order.run.scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    return {
        "setup_error": complaint,
        "ending": ending,
        "exit_code": os.WEXITSTATUS(code) if os.WIFEXITED(code) else None,
        "signal": os.WTERMSIG(code) if os.WIFSIGNALED(code) else None,
        "setup_seconds": started - begun,
        "wall_seconds": ended - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_kilobytes": usage.ru_maxrss,
    }


def _make_scratch(order: Order) -> str:
    """Enter the namespaces, or make a folder where there are none; return it, empty for none."""
    if order.walls.namespaces:
        namespaces.enter(order.walls.user, order.run.file_bytes)
        return namespaces.SCRATCH
    if not order.run.scratch:
        return ""
    folder = tempfile.mkdtemp(prefix="run-", dir=order.run.scratch)
    if order.walls.user is not None:
        os.chown(folder, order.walls.user, order.walls.user)
    return folder


def _await_setup(setup: int) -> str:
    """Return why the runner could not put on its layers, empty once it has.

    The pipe is written before the learner's code starts, and closed: he cannot write to it.
    """
    try:
        ready, _, _ = select.select([setup], [], [], SETUP_SECONDS)
        if not ready:
            return "putting on the layers took too long"
        message = os.read(setup, _MAX_COMPLAINT)
    finally:
        os.close(setup)
    if message == runner.SETUP_DONE:
        return ""
    return message.decode("utf-8", "replace") or "the runner ended while putting on its layers"


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
