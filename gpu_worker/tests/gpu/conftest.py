"""A device zygote around the stand-in driver, one for all tests of runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.sandbox.device_profile import DeviceProfile, bound_nodes
from gpu_worker.sandbox.device_zygote import DeviceZygote
from gpu_worker.tests.cupy.conftest import grade_cupy
from gpu_worker.tests.gpu.machine import machine

__all__ = ("grade_cupy",)

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


def stand_in_profile(root: Path) -> DeviceProfile:
    """Return a profile whose device nodes are files, and whose CuPy is the stand-in."""
    folder = machine(root, minors=(0, 1))
    for node in (folder / "dev").iterdir():
        node.chmod(0o666)
    return DeviceProfile(
        uuid=GPU.uuid,
        nodes=bound_nodes(GPU.nodes, folder),
        libraries=(),
        packages=(str(DRIVER / "cupy"),),
        memory_bytes=1 << 30,
    )


@pytest.fixture(scope="session")
def device_zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeviceZygote]:
    folder = tmp_path_factory.mktemp("machine")
    with DeviceZygote(stand_in_profile(folder / "root")) as zygote:
        yield zygote
