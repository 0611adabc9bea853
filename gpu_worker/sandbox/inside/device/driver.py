"""CuPy in the zygote: imported once, with the driver untouched.

A process that is forked after the driver was initialised cannot use a device. Importing CuPy does
not even load the driver's library; any query would.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LIBRARIES: Final = ("libcuda.so", "libnvidia-ml.so")
_PRELOADED: Final = ("ml_dtypes", "cupy")


class DriverTouchedError(RuntimeError):
    """The zygote has loaded the driver, so that its children could not use a device."""


def preload(environment: Sequence[tuple[str, str]]) -> None:
    """Import CuPy, which reads its environment then, and what the harness needs for it.

    Raises:
        ImportError: CuPy is not there.
        DriverTouchedError: importing it has loaded the driver.
    """
    os.environ.update(environment)
    for name in _PRELOADED:
        importlib.import_module(name)
    for name in ("library", "start", "timed"):
        importlib.import_module(f"{__package__}.{name}")
    assert_untouched()


def assert_untouched(maps: str = "/proc/self/maps") -> None:
    """Check that none of the driver's libraries is mapped into this process.

    Raises:
        DriverTouchedError: one is.
    """
    text = Path(maps).read_text(encoding="utf-8", errors="replace")
    if found := [name for name in LIBRARIES if name in text]:
        raise DriverTouchedError(f"the zygote has loaded {found[0]}")
