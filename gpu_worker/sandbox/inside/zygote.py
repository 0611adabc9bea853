"""The zygote: imports NumPy once, never reads a job, forks one supervisor per submission.

The first message over the SOCK_SEQPACKET socket says which walls to put on. Each further one is
an order: the run's limits with four descriptors: the job, the result pipe, the output pipe, and
the socket on which the supervisor reports.

Forking and making namespaces take most of what a run costs. Neither needs to know the order, so
the next supervisor with its runner is made ahead, and waits for it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket

import numpy as np

from . import runner, stand_in, supervisor
from .device import driver
from .layers import process, threads
from .preload import preload
from .walls import Walls

READY = b"ready"
MESSAGE_BYTES = 65_536
_DESCRIPTORS = 4


def main(control: socket.socket) -> None:
    """Serve orders until the judge hangs up.

    Raises:
        ThreadsError: an imported module started a thread, so that forking is not safe.
        DriverTouchedError: an imported module loaded the driver, likewise.
    """
    process.die_with_parent(os.getppid())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    walls = Walls.from_bytes(control.recv(MESSAGE_BYTES))
    preload()
    stand_in.preload(walls.modules, walls.builds)
    if walls.device:
        driver.preload(walls.device.environment)
    # Matters only for the first product; ensures that no thread pool appears later.
    np.ones((8, 8)) @ np.ones((8, 8))
    threads.assert_one()
    runner.clear_environment(walls.device.environment if walls.device else ())
    process.forbid_tracing()
    gc.collect()
    # Objects alive now stay shared with all runners: garbage collections there skip them.
    gc.freeze()
    control.send(READY)
    while True:
        if walls.device:
            driver.assert_untouched()
        pid, orders = _prepare(control, walls)
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, _DESCRIPTORS)
        if not message:
            return
        pid, orders = _hand_over(control, walls, pid, orders, message, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        orders.close()
        os.waitpid(pid, 0)


def _prepare(control: socket.socket, walls: Walls) -> tuple[int, socket.socket]:
    """Fork a supervisor that waits for an order; return its process id and where to send it."""
    own = os.getpid()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            ours.close()
            supervisor.supervise(walls, own, theirs)
        finally:
            # Whatever went wrong, there must be no second zygote. The judge sees the socket close.
            os._exit(1)
    theirs.close()
    return pid, ours


def _hand_over(
    control: socket.socket,
    walls: Walls,
    pid: int,
    orders: socket.socket,
    message: bytes,
    descriptors: list[int],
) -> tuple[int, socket.socket]:
    """Send the order to the supervisor that waits, or to another if that one has died."""
    try:
        socket.send_fds(orders, [message], descriptors)
    except OSError:
        orders.close()
        os.waitpid(pid, 0)
        pid, orders = _prepare(control, walls)
        socket.send_fds(orders, [message], descriptors)
    return pid, orders
