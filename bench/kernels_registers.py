"""What NVIDIA's compiler needs for each kernel that the fused references can launch.

Registers per thread, shared memory per block, and spills, for three generations of devices. No
device is needed; a spill would be a number that is kept in device memory for want of registers.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from gpu_worker.cuda_cpu.toolchain import nvrtc
from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.row_launch import C_TYPES


def measure(folder: Path) -> dict[str, Any]:
    """Compile every instance of every exercise's `kernels.cu` for each architecture."""
    exercises = {slug: _exercise(slug) for slug in slugs() if kernels_of(slug).is_file()}
    return {"compiler": Path(nvrtc.library()).name, "exercises": exercises}


def kernels_of(slug: str) -> Path:
    """Return the path of an exercise's kernels."""
    return get(slug).folder / "kernels.cu"


def digest_of(slug: str) -> str:
    """Return the digest of the source that was measured."""
    return hashlib.sha256(kernels_of(slug).read_bytes()).hexdigest()


def _exercise(slug: str) -> dict[str, Any]:
    source = kernels_of(slug).read_text(encoding="utf-8")
    launches = get(slug).module("launch").LAUNCHES
    kernels: dict[str, dict[str, dict[str, int]]] = {}
    for dtype in C_TYPES:
        names = launches.instances(dtype)
        for architecture in nvrtc.ARCHITECTURES:
            needed = nvrtc.compile_for(source, architecture, (), names)
            for name in names:
                kernels.setdefault(name, {})[architecture] = needed[name]
    return {"sha256": digest_of(slug), "kernels": kernels}
