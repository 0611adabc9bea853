"""CUDA C on a machine without a GPU: compiled by g++ in a sandbox, run thread by thread, watched.

`compile_source` is the worker's half; the half that runs beside the learner's code is the executor,
`gpu_worker.cupy_cpu.executor`. The same as on a device: indexing, barriers, shuffles, atomics,
shared memory, rounding of half and bfloat16. Not the same: speed, the order of threads (which the
caller chooses), the last bits of fast mathematics, PTX, tensor cores, clusters.
"""

from __future__ import annotations

from gpu_worker.cuda_cpu.errors import CompileError, CompilerMissingError
from gpu_worker.cuda_cpu.toolchain.building import Build, compile_source, unavailable
from gpu_worker.cuda_cpu.toolchain.nvrtc import refusals, resources

__all__ = [
    "Build",
    "CompileError",
    "CompilerMissingError",
    "compile_source",
    "refusals",
    "resources",
    "unavailable",
]
