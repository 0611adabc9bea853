"""A device zygote around the stand-in driver, one for all tests of runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.tests.cupy.conftest import grade_cupy
from gpu_worker.tests.gpu.stand_in import stand_in_profile

__all__ = ("grade_cupy",)


@pytest.fixture(scope="session")
def device_zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeviceZygote]:
    folder = tmp_path_factory.mktemp("machine")
    with DeviceZygote(stand_in_profile(folder / "root")) as zygote:
        yield zygote
