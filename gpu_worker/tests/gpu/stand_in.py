"""A fake device: files for its nodes, and the stand-in driver under CuPy's name.

`python -m gpu_worker.tests.gpu.stand_in` tries every attack in a run with it and prints what got
through, as JSON: so that it can be done as another user.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.sandbox.profile import DeviceProfile, bound_nodes
from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.tests.containment import attacks, gets_through
from gpu_worker.tests.gpu.machine import machine
from gpu_worker.tests.targets import Targets

DRIVER = Path(__file__).with_name("stand_in_driver")
GPU = Gpu("GPU-1", "stand-in", "0000:01:00.0", 0)
FACTS = Facts(
    name="stand-in",
    compute_capability="9.0",
    cuda="13.0",
    cuda_of_driver="13.1",
    cupy="0.stand.in",
    memory_megabytes=10_000,
    free_megabytes=9_000,
    copy_gigabytes_per_second=1.0,
)

GRANTED_ON_PURPOSE = {
    "08_start_threads",
    "09b_take_shared_memory",
    "53_reopen_descriptors",
    "54_become_readable",
    "62_list_processes",
    "65_see_how_busy_the_machine_is",
}
"""The driver needs threads, a /proc, a dumpable process, the size of the memory and address space
without limit; the watch over resident memory ends what 09b begins. See
docs/explanation/device-track.md."""


def stand_in_profile(root: Path) -> DeviceProfile:
    """Return a profile whose device nodes are files, and whose CuPy is the stand-in."""
    folder = machine(root, minors=(0, 1))
    for node in (folder / "dev").iterdir():
        node.chmod(0o666)
    return DeviceProfile(
        uuid=GPU.uuid,
        # The first node is a real character device, though another one: it accepts commands.
        nodes=(("/dev/zero", GPU.nodes[0]), *bound_nodes(GPU.nodes[1:], folder)),
        libraries=(),
        packages=(str(DRIVER / "cupy"),),
        memory_bytes=1 << 30,
    )


def attacked(zygote: DeviceZygote) -> dict[str, str]:
    """Try every attack in a run with a device; return how each got through, empty if it did not."""
    with Targets() as targets:
        return {
            attack.name: gets_through(attack, zygote, targets)
            for attack in attacks()
            if attack.reaches
        }


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as folder,
        DeviceZygote(stand_in_profile(Path(folder, "root"))) as made,
    ):
        found = attacked(made)
    json.dump({"user": os.getuid(), "found": found}, sys.stdout)
