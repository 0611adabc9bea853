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


def modules() -> list[tuple[str, tuple[str, ...]]]:
    """Return exercise and kernels of every module of the fused references, by their dtypes."""
    found: dict[tuple[str, tuple[str, ...]], None] = {}
    for dtype in correctness.DTYPES:
        for exercise in CLASSES:
            launches = correctness.launches_of(exercise)
            for name in launches.instances(dtype):
                found[exercise, launches.together(dtype, name)] = None
    return list(found)


def build_part(number: int, of: int) -> None:
    """Build every `of`-th module from `number` on, in this process."""
    for exercise, names in modules()[number::of]:
        fused = importlib.import_module(f"gpu_worker.exercises.{exercise}.fused_cupy")
        # CuPy compiles a module when its first kernel is asked for.
        fused.module_of(names).get_function(names[0])


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
