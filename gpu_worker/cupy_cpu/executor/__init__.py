"""The executor: memory, modules and launches of kernels where there is no device.

This half runs beside the learner's code, in the sandbox, and needs only NumPy and the standard
library. What it loads gets no more than the process that it runs in.
"""

from __future__ import annotations

from . import argument_words
from .arguments import ArrayStructure, Pointer
from .counters import Access, ArrayTraffic, Counters
from .defects import Defect, cause_rank
from .diagnostics import Diagnostic, Severity
from .kernel import Kernel
from .memory import Allocation, Memory
from .module import Module
from .outputs import unwritten_elements, unwritten_output
from .report import LaunchError, LaunchReport

__all__ = [
    "Access",
    "Allocation",
    "ArrayStructure",
    "ArrayTraffic",
    "Counters",
    "Diagnostic",
    "Kernel",
    "Defect",
    "LaunchError",
    "LaunchReport",
    "Memory",
    "Module",
    "Pointer",
    "Severity",
    "argument_words",
    "cause_rank",
    "unwritten_elements",
    "unwritten_output",
]
