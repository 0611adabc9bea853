"""The worker's application on a machine with a fake device; for an end-to-end test.

STAND_IN_MACHINE names the folder that looks like the machine; a file `sick` in it makes the device
fail its probes.
"""

from __future__ import annotations

import os
from pathlib import Path

from gpu_worker import celery_app
from gpu_worker.gpu import fleet as fleets
from gpu_worker.gpu.examination import Facts, UnusableError
from gpu_worker.gpu.fleet import Fleet
from gpu_worker.gpu.inventory import Gpu, find
from gpu_worker.gpu.lane import Lane
from gpu_worker.gpu.sandbox.profile import DeviceProfile
from gpu_worker.tests.gpu.stand_in import DRIVER, FACTS
from gpu_worker.worker import node, tasks

ROOT = Path(os.environ["STAND_IN_MACHINE"])


def found() -> list[Gpu]:
    return find(ROOT)


def examine(gpu: Gpu) -> Facts:
    if (ROOT / "sick").exists():
        raise UnusableError("Xid 79")
    return FACTS


def profile(gpu: Gpu, facts: Facts) -> DeviceProfile:
    nodes = (("/dev/zero", gpu.nodes[0]),)
    return DeviceProfile(gpu.uuid, nodes, (), (str(DRIVER / "cupy"),), 1 << 30)


def unwarmed(gpu: Gpu, facts: Facts) -> None:
    """Compile nothing: the stand-in has no compiler."""


fleets.LOOKED_AT_EVERY_SECONDS = 0.2  # type: ignore[misc]
fleets.FIRST_RETRY_SECONDS = 0.2  # type: ignore[misc]
_fleet = Fleet(found, examine, warm=unwarmed)
celery_app.fleet = node.fleet = lambda: _fleet  # type: ignore[assignment]
tasks.lane = Lane(found, examine, profile)
app = celery_app.app
