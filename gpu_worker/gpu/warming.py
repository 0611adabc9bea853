"""Kernels compiled ahead for a device, in a folder that runs get a copy of and cannot write to.

CuPy compiles a kernel for every operation, dtype and layout that it meets, in tenths of a second
each; an honest program of array expressions would spend its time on that. So once for each model of
device and version of CuPy, a child process, `python -m gpu_worker.gpu.warming`, runs the references
of all exercises and keeps what CuPy compiled for them. Nothing that a learner wrote gets into the
folder; the judge's own process on a device uses it too. **Not yet run on a device.**
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from gpu_worker.exercises import Exercise, get, slugs
from gpu_worker.gpu.examination import Facts, environment_of
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.timing_plan import TIMED_DIM
from gpu_worker.messages.protocol import Track
from gpu_worker.sandbox.inside.layers import process

FOLDER: Final = "LEARNML_GPU_KERNELS_FOLDER"
"""Names the folder of kernels compiled ahead; by default one among temporary files."""
SECONDS: Final = 180.0
DTYPES: Final = ("float32", "float16", "bfloat16", "float64")
SHAPES: Final = ((7,), (3, 33), (3, 1024), (2, 3, 7), (2, 2, 3, 7), (300, 5))
_DONE: Final = "done"

logger = logging.getLogger(__name__)


def folder_for(facts: Facts) -> Path:
    """Return where the kernels for such a device belong."""
    named = f"{facts.compute_capability} {facts.cupy} {facts.cuda} {facts.cuda_of_driver}"
    default = Path(tempfile.gettempdir()) / f"learnml-gpu-kernels-{os.geteuid()}"
    place = Path(os.environ.get(FOLDER) or default)
    return place / hashlib.sha256(named.encode()).hexdigest()[:16]


def warmed(facts: Facts) -> str:
    """Return the folder with the kernels for such a device, empty if there are none yet."""
    folder = folder_for(facts)
    return str(folder) if (folder / _DONE).is_file() else ""


def warm(gpu: Gpu, facts: Facts, seconds: float = SECONDS) -> None:
    """Compile the kernels for a device, if that was not done before; say so where it fails.

    Without them submissions are graded all the same, with less time left for themselves.
    """
    if warmed(facts):
        return
    folder = folder_for(facts)
    # Runners may be another user, and must be able to read this.
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "gpu_worker.gpu.warming"],
            env=environment_of(gpu, str(folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        logger.warning("Kernels for %s were not compiled ahead within %g s.", gpu.name, seconds)
        return
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip()[-1_000:]
        logger.warning("Kernels for %s were not compiled ahead: %s", gpu.name, words)
        return
    for path in folder.iterdir():
        path.chmod(0o644)
    (folder / _DONE).touch(mode=0o644)


def run_references(cupy: Any) -> int:
    """Run the reference of every exercise of the track in its dtypes; return how many calls."""
    importlib.import_module("ml_dtypes")
    count = 0
    few = cupy.ones((8, TIMED_DIM), "float32")
    for exercise in (get(slug) for slug in slugs()):
        if Track.CUPY not in exercise.tracks:
            continue
        if (exercise.folder / "fused_cupy.py").is_file():
            count += _run(exercise, "fused_cupy", few)
        for dtype in filter(exercise.has_kernels_for, DTYPES):
            for shape in SHAPES:
                # Once contiguous, once with gaps, as in the cases.
                count += _run(exercise, "reference_cupy", cupy.ones(shape, dtype))
                wide = cupy.ones((*shape[:-1], 2 * shape[-1]), dtype)
                count += _run(exercise, "reference_cupy", wide[..., ::2])
    cupy.cuda.runtime.deviceSynchronize()
    return count


def _run(exercise: Exercise, module: str, x: Any) -> int:
    arguments = {"dim": x.shape[-1], "eps": exercise.default_eps}
    cls = getattr(exercise.module(module), exercise.class_name)
    layer = cls(**{name: arguments[name] for name in exercise.constructor})
    for name in exercise.parameters:
        setattr(layer, name, getattr(layer, name).astype(x.dtype))
    for direction in exercise.directions:
        getattr(layer, direction)(x)
    return len(exercise.directions)


def main() -> int:
    process.die_with_parent(os.getppid())
    try:
        run_references(importlib.import_module("cupy"))
    except Exception as error:  # noqa: BLE001  whatever it is, the parent must hear it
        sys.stderr.write(f"{type(error).__name__}: {error}"[:1_000])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
