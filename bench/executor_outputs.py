"""Runs the stored kernels in the CPU executor, and keeps what they made for devices to agree with.

`python -m bench.executor_outputs`, on a machine with the executor: again whenever a kernel changed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from bench.on_device.programs import OUTPUTS, inputs, play, programs, runs


def use_executor() -> Any:
    """Put the stand-in in CuPy's place, and return it.

    Raises:
        RuntimeError: CuPy itself was imported before.
    """
    import gpu_worker.cupy_cpu as stand_in
    from gpu_worker.cupy_cpu import host
    from gpu_worker.judge.running.builds import LocalBuilder

    host.connect(LocalBuilder())
    if sys.modules.setdefault("cupy", stand_in) is not stand_in:
        raise RuntimeError("CuPy itself is loaded: run the executor in a process of its own.")
    return stand_in


def record(path: Path = OUTPUTS) -> int:
    """Write the outputs of every program; return how many results there are."""
    cupy = use_executor()
    results: dict[str, Any] = {}
    for program in programs():
        results[f"sha256 {program.name}"] = np.array(program.sha256)
        cls = program.load()
        for run in runs(program):
            made = play(cls, run, inputs(program, run), cupy.asarray, cupy.asnumpy)
            for quantity, values in made.items():
                results[f"{run.key(program)} {quantity}"] = values
    np.savez_compressed(path, **results)
    return len(results)


if __name__ == "__main__":
    print(f"{record()} results in {OUTPUTS.name}")
