"""The worker as a node: its name, and what it reports of itself."""

from __future__ import annotations

import os
import platform
from typing import Final

import numpy as np

from gpu_worker.gpu.fleet import fleet, usable
from gpu_worker.messages.protocol import GpuReport, NodeReport, Track
from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU
from gpu_worker.sandbox import isolation
from gpu_worker.worker import offers as devices

# Read in the worker's parent process before it forks, so that its children share one name.
_WORKER_PID: Final = os.getpid()


def node_name() -> str:
    """Return the node's name: `LEARNML_NODE`, or host name and process id of the worker."""
    return (os.environ.get("LEARNML_NODE") or f"{platform.node()}-{_WORKER_PID}")[:200]


def node_report(queue: str = QUEUE_CPU) -> NodeReport:
    """Return what this worker says of itself now.

    Raises:
        RefusedError: submissions cannot be isolated here.
    """
    found = isolation.establish()
    gpus = _gpus(queue)
    return NodeReport(
        node=node_name(),
        queue=queue,
        isolation=found.text,
        limits=found.limits,
        python=platform.python_version(),
        numpy=np.__version__,
        platform=f"{platform.system()} {platform.release()} {platform.machine()}"[:200],
        devices=devices.described(queue)[:64],
        gpus=gpus,
        tracks=_tracks(queue, gpus, isolated=bool(found.setup.bubblewrap)),
    )


def _gpus(queue: str) -> list[GpuReport]:
    """Return the devices of a worker of the queue for them; those of others are not looked at."""
    return fleet().reports()[:64] if queue == QUEUE_GPU else []


def _tracks(queue: str, gpus: list[GpuReport], *, isolated: bool) -> list[Track]:
    """Return what the worker grades now: a GPU node only while a device of its works.

    `isolated`: this machine has the namespaces that a run on a device needs.
    """
    if queue != QUEUE_GPU:
        return devices.gradable_tracks(queue)
    return [Track.CUPY] if isolated and usable(gpus) else []
