"""The zygote: imports NumPy once, never reads a job, forks one supervisor per submission.

Orders come over a SOCK_SEQPACKET socket as the run's limits with four descriptors: the job, the
result pipe, the output pipe, and the socket on which the supervisor reports.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys

import numpy as np

from . import supervisor
from .layers import process
from .layers.limits import RunLimits
from .preload import preload

_DESCRIPTORS = 4


def main(control: socket.socket, parent: int) -> None:
    """Serve orders until the judge hangs up."""
    process.die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload()
    # Matters for the first product only; makes sure that no thread pool appears later.
    np.ones((8, 8)) @ np.ones((8, 8))
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        sys.exit(f"The zygote has {threads} threads; it must have one to be forked safely.")
    process.forbid_tracing()
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65_536, _DESCRIPTORS)
        if not message:
            return
        _serve(control, RunLimits.from_bytes(message), descriptors)


def _serve(control: socket.socket, run: RunLimits, descriptors: list[int]) -> None:
    own = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            job, result, output, status = descriptors
            supervisor.supervise(run, own, job, result, output, socket.socket(fileno=status))
        finally:
            # Whatever went wrong: never a second zygote. The judge sees the socket close.
            os._exit(1)
    for descriptor in descriptors:
        os.close(descriptor)
    os.waitpid(pid, 0)
