"""The supervisor: one per submission, between zygote and runner. Keeps the limits, reports.

It is made ahead: it enters the namespaces, forks the runner, and both wait for an order. Only its
own measurements count: what the runner says about time and memory is ignored.
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
from typing import Final, NoReturn

from . import runner
from .device.layers import ResidentWatch
from .layers import memory, namespaces, process
from .layers.limits import RunLimits
from .layers.memory import MemoryWatch
from .layers.own_time import OwnTime
from .walls import Walls

SETUP_SECONDS: Final = 10.0
"""How long the runner may take to apply its layers."""
LOOK_SECONDS: Final = 0.1
"""How often the supervisor looks at the runner's memory."""
SHORTEST_REST_SECONDS: Final = 0.01
EXCUSED: Final = b"excused"
CHARGED: Final = b"charged"
"""What the judge says of the time that the runner waits from now on."""
_MAX_COMPLAINT: Final = 2_000
_MESSAGE_BYTES: Final = 65_536


def supervise(walls: Walls, zygote: int, orders: socket.socket) -> NoReturn:
    """Prepare, wait for an order, carry it out and report on its status socket. Ends the process.

    `zygote` is the zygote's process id, `orders` the socket from it.
    """
    waiting: _Waiting | None = None
    complaint = ""
    try:
        waiting = _prepare(walls, zygote, orders)
    except OSError as error:
        complaint = f"{type(error).__name__}: {error}"
    message, descriptors, _, _ = socket.recv_fds(orders, _MESSAGE_BYTES, 4)
    if not message:
        os._exit(0)
    *given, status_end = descriptors
    status = socket.socket(fileno=status_end)
    report: dict[str, object] = {"setup_error": complaint}
    if waiting:
        try:
            report = _run(walls, RunLimits.from_bytes(message), waiting, given, status)
        except OSError as error:
            report = {"setup_error": f"{type(error).__name__}: {error}"}
    status.send(json.dumps(report).encode("ascii"))
    os._exit(0)


class _Waiting:
    """A runner that waits: its process id, where its order goes, where it tells of its layers.

    `proc` is a descriptor of /proc, in which it can be looked at.
    """

    def __init__(self, pid: int, orders: socket.socket, setup: int, proc: int) -> None:
        self.pid = pid
        self.orders = orders
        self.setup = setup
        self.proc = proc


def _prepare(walls: Walls, zygote: int, from_zygote: socket.socket) -> _Waiting:
    process.die_with_parent(zygote)
    process.prefer_for_killing()
    proc = memory.open_proc()
    if walls.namespaces:
        namespaces.enter(walls.user)
    else:
        process.adopt_orphans()
    setup, setup_end = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        from_zygote.close()
        os.close(setup)
        runner.enter(walls, own, theirs, setup_end)
    theirs.close()
    os.close(setup_end)
    return _Waiting(pid, ours, setup, proc)


def _run(
    walls: Walls, run: RunLimits, waiting: _Waiting, given: list[int], status: socket.socket
) -> dict[str, object]:
    begun = time.monotonic()
    scratch = _make_scratch(walls, run)
    order = runner.Order(run, scratch).to_bytes()
    socket.send_fds(waiting.orders, [order], given)
    waiting.orders.close()
    shared = os.fstat(given[0]).st_size
    for descriptor in given:
        os.close(descriptor)
    complaint = _await_setup(waiting.setup)
    started = time.monotonic()
    own = OwnTime(waiting.proc)
    watch = (
        ResidentWatch(waiting.proc, run.memory_bytes, shared)
        if walls.device
        else MemoryWatch(waiting.proc, run.memory_bytes)
    )
    limits = (0.0, 0.0) if complaint else (run.wall_seconds, run.patience_seconds)
    ending = _wait(waiting.pid, limits, status, watch, own)
    _, code, usage = os.wait4(waiting.pid, 0)
    ended = time.monotonic()
    if not walls.namespaces:
        # With namespaces, the kernel has killed everything that the runner left behind.
        _kill_orphans(os.getpid())
    if run.scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    return {
        "setup_error": complaint,
        "ending": ending,
        "exit_code": os.WEXITSTATUS(code) if os.WIFEXITED(code) else None,
        "signal": os.WTERMSIG(code) if os.WIFSIGNALED(code) else None,
        "setup_seconds": started - begun,
        "wall_seconds": ended - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "waited_seconds": own.waited,
        "peak_kilobytes": usage.ru_maxrss,
    }


def _make_scratch(walls: Walls, run: RunLimits) -> str:
    """Give the run its scratch folder, where there is one; return it, empty for none."""
    if walls.namespaces:
        namespaces.resize_scratch(run.file_bytes)
        return namespaces.SCRATCH
    if not run.scratch:
        return ""
    folder = tempfile.mkdtemp(prefix="run-", dir=run.scratch)
    if walls.user is not None:
        os.chown(folder, walls.user, walls.user)
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


def _wait(
    pid: int,
    limits: tuple[float, float],
    status: socket.socket,
    watch: MemoryWatch,
    own: OwnTime,
) -> str:
    """Wait for the runner's end, a limit, or the judge hanging up; kill it if needed."""
    descriptor = os.pidfd_open(pid)
    try:
        ending = _await_end(descriptor, limits, status, watch, own)
        if ending != "ended":
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        return ending
    finally:
        os.close(descriptor)


def _await_end(
    descriptor: int,
    limits: tuple[float, float],
    status: socket.socket,
    watch: MemoryWatch,
    own: OwnTime,
) -> str:
    """Return why the run ends: `limits` are of its own time, and of the clock."""
    wall_seconds, patience_seconds = limits
    deadline = time.monotonic() + patience_seconds
    excused = False
    while True:
        rest = min(max(wall_seconds - own.seconds, SHORTEST_REST_SECONDS), LOOK_SECONDS)
        waited_for = [descriptor, status.fileno()]
        ready, _, _ = select.select(waited_for, [], [], rest)
        if descriptor in ready:
            return "ended"
        if ready:
            # The judge says that the runner starts or stops waiting for it, or it hangs up.
            word = status.recv(16)
            if not word:
                return "cancelled"
            excused = word == EXCUSED
            continue
        own.look(rest, excused=excused)
        if own.seconds >= wall_seconds:
            return "timed_out"
        if time.monotonic() >= deadline:
            return "timed_out" if own.waits_mostly else "starved"
        if watch.is_stuck():
            # It catches the refusal, or takes ages to unwind from it: there is no use in waiting.
            return "out_of_memory"


def _kill_orphans(own: int) -> None:
    """Kill what the runner left behind, should it have managed to start anything."""
    while left := process.children(own):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        for pid in left:
            os.waitpid(pid, 0)
