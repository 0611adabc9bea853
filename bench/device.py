"""Measure the reference kernels on one NVIDIA device, in less than eight minutes.

    python bench/device.py [--seconds 450] [--seed 1] [--out bench/results/device.json]

Needs NumPy and CuPy beside this repository (ml_dtypes for bfloat16; torch, triton, liger-kernel
to compare with). Ends with 0 if every kernel is right and agrees with the CPU executor, with 1 if
not, with 2 where there is no device, with 3 where it is in use. First the stored submissions are
graded on the device through sandbox and judge, which needs the worker's packages and bubblewrap.
Then `python -m bench.device_table` makes table and picture.
"""

from __future__ import annotations

import argparse
import importlib.util
import secrets
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from bench.on_device import building, correctness, driver, grading, run  # noqa: E402
from bench.on_device.budget import Budget  # noqa: E402
from bench.on_device.writing import RESULTS, write  # noqa: E402
from gpu_worker.gpu import inventory  # noqa: E402
from gpu_worker.gpu.inventory import Gpu  # noqa: E402
from gpu_worker.gpu.lock import BusyError, device_lock  # noqa: E402

BUILD_SHARE = 0.15
GRADING_SHARE = 0.3
NO_DEVICE = 2
BUSY = 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=run.SECONDS, help="the budget")
    parser.add_argument("--seed", type=int, default=None, help="of the inputs, default random")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--build-part", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.build_part:
        building.build_part(*options.build_part)
        return 0
    budget = Budget(options.seconds)
    if not driver.device_names():
        print("There is no NVIDIA device here, so nothing was measured and nothing was written.")
        return NO_DEVICE
    seed = secrets.randbits(31) if options.seed is None else options.seed
    return _measure(budget, seed, options.out)


def _measure(budget: Budget, seed: int, out: Path) -> int:
    import numpy as np

    took = building.build_all(BUILD_SHARE * budget.seconds)
    print(f"Kernels built in {took:.0f} s.")
    # Before this process uses the device itself: a node's lane takes the lock for each submission.
    graded = grade_stored(budget, inventory.find())
    print(f"{len(graded['submissions'])} of {graded['of']} stored submissions graded, "
          f"{len(graded['wrong'])} not as they must be.")  # fmt: skip
    # After the children: a process that uses the device need not wait beside them.
    from bench.on_device.cuda import CudaDevice
    from bench.on_device.programs import OUTPUTS

    scope = run.Scope(dtypes=_dtypes(budget))
    with np.load(OUTPUTS) as recorded:
        known = dict(recorded)

    def save(results: dict[str, Any]) -> None:
        write({**results, "grading": graded}, out)

    device = CudaDevice()
    try:
        with lock_of(device.bus, inventory.find()):
            results = run.measure(device, budget, seed, known, scope, save)
    except BusyError:
        print("Another process holds the lock of this device: a worker, or another measurement. "
              "Nothing was measured.")  # fmt: skip
        return BUSY
    right = results["correctness"]
    print(f"{right['cases']} cases, {right['failed']} wrong; agreement: "
          f"{results['agreement']['agree']}; {len(results['times'])} cells timed; "
          f"{len(results['left_out'])} things left out; {results['seconds']} s. {out}")  # fmt: skip
    return 0 if run.is_right(results) and not graded["wrong"] else 1


def grade_stored(budget: Budget, found: Sequence[Gpu]) -> dict[str, Any]:
    """Grade stored submissions with a part of the budget; say where that cannot be."""
    part = budget.part(GRADING_SHARE * budget.seconds)
    grade, why = grading.on_this_machine()
    if not found:
        grade, why = None, "the kernel module's folder /proc/driver/nvidia shows no device"
    if grade is None:
        budget.leave_out("grading of stored submissions", why)
        return {"submissions": {}, "of": 0, "wrong": []}
    if problem := grading.prepare(found, part.left() / 3):
        budget.leave_out("compiling ahead for submissions", problem)
    return grading.grade_all(part, grade, grading.stored_items())


def lock_of(bus: str, found: Sequence[Gpu]) -> AbstractContextManager[None]:
    """Return the lock that workers share of the device at this place, if the kernel shows it."""
    for gpu in found:
        if gpu.bus.lower() == bus:
            return device_lock(gpu.uuid)
    return nullcontext()


def _dtypes(budget: Budget) -> tuple[str, ...]:
    """Return all dtypes, without bfloat16 where ml_dtypes, and so CuPy's own, is missing."""
    if importlib.util.find_spec("ml_dtypes"):
        return correctness.DTYPES
    budget.leave_out("bfloat16", "ml_dtypes is not installed")
    return tuple(name for name in correctness.DTYPES if name != "bfloat16")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
