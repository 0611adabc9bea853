from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.platform import Platform


@pytest.fixture(scope="package")
def shared_platform(
    prepared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    platform = Platform(tmp_path_factory.mktemp("faults"), prepared_data)
    yield platform
    platform.end()


@pytest.fixture
def platform(shared_platform: Platform) -> Iterator[Platform]:
    """The platform with all its parts running; what a test leaves stopped is ended after it."""
    shared_platform.start()
    yield shared_platform
    for name, part in shared_platform.parts.items():
        if " that stops " in name:
            part.kill()
