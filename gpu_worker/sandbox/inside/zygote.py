"""The zygote: imports NumPy once, never reads a job, forks one supervisor per submission.

The first message over the SOCK_SEQPACKET socket says which walls to put on. Each further one is
an order: the run's limits with four descriptors: the job, the result pipe, the output pipe, and
the socket on which the supervisor reports.
"""

from __future__ import annotations

import gc
import os
import signal
import socket

import numpy as np

from . import runner, supervisor
from .layers import process, threads
from .layers.limits import RunLimits
from .preload import preload
from .walls import Walls

READY = b"ready"
MESSAGE_BYTES = 65_536
_DESCRIPTORS = 4


def main(control: socket.socket) -> None:
    """Serve orders until the judge hangs up.

    Raises:
        ThreadsError: an imported module started a thread, so that forking is not safe.
    """
    process.die_with_parent(os.getppid())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    walls = Walls.from_bytes(control.recv(MESSAGE_BYTES))
    preload()
    # Matters for the first product only; makes sure that no thread pool appears later.
    np.ones((8, 8)) @ np.ones((8, 8))
    threads.assert_one()
    runner.clear_environment()
    process.forbid_tracing()
    gc.collect()
    # What is alive now stays shared with all runners: collections in them leave it alone.
    gc.freeze()
    control.send(READY)
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, _DESCRIPTORS)
        if not message:
            return
        _serve(control, walls, RunLimits.from_bytes(message), descriptors)


def _serve(control: socket.socket, walls: Walls, run: RunLimits, descriptors: list[int]) -> None:
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            supervisor.supervise(supervisor.Order(walls, run, own, *descriptors))
        finally:
            # Whatever went wrong: never a second zygote. The judge sees the socket close.
            os._exit(1)
    for descriptor in descriptors:
        os.close(descriptor)
    os.waitpid(pid, 0)
