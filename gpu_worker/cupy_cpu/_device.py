"""The part of the executor that runs beside learners' code.

In the sandbox this module's place is taken by the package itself: see `inside.stand_in`.
"""

from __future__ import annotations

from gpu_worker.cuda_cpu.device import (
    Allocation,
    ArrayStructure,
    ArrayTraffic,
    Counters,
    Diagnostic,
    Kernel,
    Kind,
    LaunchError,
    LaunchReport,
    Memory,
    Module,
    Pointer,
    Severity,
    argument_words,
    cause_rank,
    unwritten_elements,
)

__all__ = (
    "Allocation",
    "ArrayStructure",
    "ArrayTraffic",
    "Counters",
    "Diagnostic",
    "Kernel",
    "Kind",
    "LaunchError",
    "LaunchReport",
    "Memory",
    "Module",
    "Pointer",
    "Severity",
    "argument_words",
    "cause_rank",
    "unwritten_elements",
)
