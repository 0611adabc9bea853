"""From `manage.py up` to the printed address: with an empty data folder, and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bench.results import summary
from tests.platform.instance import Instance

COLD_STARTS = 3
SECOND_STARTS = 7


def one_start(data_dir: Path) -> tuple[float, float]:
    """Return the seconds until the address and until everything had stopped."""
    instance = Instance(data_dir)
    begun = time.monotonic()
    instance.start().wait_until_ready()
    ready = time.monotonic() - begun
    instance.wait_until_graders_work()
    begun = time.monotonic()
    instance.stop()
    return ready, time.monotonic() - begun


def measure(folder: Path) -> dict[str, Any]:
    """Measure starts; packages are installed, files are in the system's cache."""
    cold = [one_start(folder / f"cold-{number}") for number in range(COLD_STARTS)]
    second = [one_start(folder / "cold-0") for _ in range(SECOND_STARTS)]
    return {
        "unit": "s",
        "first_start_until_address": summary([ready for ready, _ in cold]),
        "second_start_until_address": summary([ready for ready, _ in second]),
        "stop": summary([stop for _, stop in second]),
    }
