"""Builds the fused references' kernels ahead, in several processes, into CuPy's cache on disk."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from bench.on_device import correctness
from bench.on_device.contenders import CLASSES

SCRIPT: Final = Path(__file__).resolve().parents[1] / "device.py"
_MOST_PROCESSES: Final = 8


def names() -> list[tuple[str, str]]:
    """Return exercise and name expression of every kernel, those that are timed first."""
    found = []
    for dtype in correctness.DTYPES:
        for exercise in CLASSES:
            launch = importlib.import_module(f"gpu_worker.exercises.{exercise}.launch")
            found += [(exercise, name) for name in launch.instances(dtype)]
    return found


def build_part(number: int, of: int) -> None:
    """Build every `of`-th kernel from `number` on, in this process."""
    for exercise, name in names()[number::of]:
        importlib.import_module(f"gpu_worker.exercises.{exercise}.fused_cupy")._kernel(name)


def build_all(seconds: float) -> float:
    """Build in child processes for at most so long; what is missing is built when it is needed.

    Returns the seconds that it took.
    """
    begun = time.monotonic()
    count = max(1, min(_MOST_PROCESSES, (os.cpu_count() or 2) - 1))
    children = [
        subprocess.Popen([sys.executable, str(SCRIPT), "--build-part", str(number), str(count)])
        for number in range(count)
    ]
    for child in children:
        try:
            child.wait(max(0.0, seconds - (time.monotonic() - begun)))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return time.monotonic() - begun
