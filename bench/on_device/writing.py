"""Writes a device's results: only those of a device that the NVIDIA driver knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bench.on_device import driver

RESULTS: Final = Path(__file__).resolve().parents[1] / "results" / "device.json"


class NotADeviceError(RuntimeError):
    """Results that are not a device's: they must not be kept as if they were."""


def write(
    results: dict[str, Any],
    path: Path = RESULTS,
    names: Callable[[], Sequence[str]] = driver.device_names,
) -> None:
    """Write the results.

    Raises:
        NotADeviceError: the driver of this machine knows no device of that name.
    """
    name, known = results["device"]["name"], names()
    if name not in known:
        there = ", ".join(known) or "none"
        raise NotADeviceError(
            f"These results say that they are of {name!r}, which the NVIDIA driver of this machine "
            f"does not know (it has: {there}). Nothing was written."
        )
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
