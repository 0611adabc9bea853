"""The defects that a kernel or a launch can have: stable ids, and the severity of each."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final


class Severity(StrEnum):
    """`error`: a device would compute something else or stop; `warning`: it may; `note`: advice."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Defect(StrEnum):
    OUT_OF_BOUNDS_READ = "out-of-bounds-read"
    OUT_OF_BOUNDS_WRITE = "out-of-bounds-write"
    MISALIGNED = "misaligned-access"
    READ_AFTER_FREE = "read-after-free"
    NULL_POINTER = "null-pointer"
    OTHER_STACK = "other-threads-local-memory"
    MISSING_BARRIER = "missing-barrier"
    DIVERGENT_BARRIER = "divergent-barrier"
    ORDER_DEPENDENT = "order-dependent"
    UNINITIALISED_SHARED = "uninitialised-shared"
    UNINITIALISED_GLOBAL = "uninitialised-global"
    GLOBAL_RACE = "global-race"
    ATOMIC_SUM = "atomic-sum"
    LAUNCH_SIZE = "launch-size"
    SHARED_SIZE = "shared-size"
    UNWRITTEN_OUTPUT = "unwritten-output"
    WARP_SIZE = "warp-size"
    INDEX_OVERFLOW = "index-overflow"
    DIVISION_BY_ZERO = "division-by-zero"
    SHIFT = "shift-too-large"
    SCALAR_TYPE = "wrong-scalar-type"
    ARRAY_TYPE = "wrong-array-type"
    ARGUMENT_COUNT = "argument-count"
    INTEGER_DIVISION = "integer-division"
    HALF_ACCUMULATION = "half-accumulation"
    STACK_OVERFLOW = "stack-overflow"
    FAULT = "fault"
    TIME_LIMIT = "time-limit"
    ENDLESS_WAIT = "endless-wait"
    TRAP = "trap"
    COMPILE_ERROR = "compile-error"
    REFUSED_SOURCE = "refused-source"


CAUSES: Final = (
    Defect.DIVERGENT_BARRIER,
    Defect.MISSING_BARRIER,
    Defect.GLOBAL_RACE,
    Defect.ATOMIC_SUM,
    Defect.ORDER_DEPENDENT,
)
"""Defects that cause others come first: threads that race also read what is not yet written."""


def cause_rank(kind: str) -> int:
    """Return a key to put causes before what follows from them; all others keep their order."""
    return CAUSES.index(Defect(kind)) if kind in CAUSES else len(CAUSES)


class Native(IntEnum):
    """The runtime's numbers, `runtime/abi.h`."""

    OUT_OF_BOUNDS = 1
    MISALIGNED = 2
    FREED = 3
    NULL_POINTER = 4
    OTHER_STACK = 5
    MISSING_BARRIER = 6
    DIVERGENT_BARRIER = 7
    UNINITIALISED_SHARED = 8
    UNINITIALISED_GLOBAL = 9
    GLOBAL_RACE = 10
    LANE_ABSENT = 11
    LANE_NOT_IN_MASK = 12
    INTEGER_OVERFLOW = 13
    DIVISION_BY_ZERO = 14
    SHIFT_TOO_LARGE = 15
    HALF_ACCUMULATION = 16
    STACK_OVERFLOW = 17
    FAULT = 18
    STEP_LIMIT = 19
    TRAP = 20
    ATOMIC_SUM = 21
    SPINNING = 22


WARNINGS: Final = frozenset({Defect.HALF_ACCUMULATION, Defect.INTEGER_DIVISION, Defect.SHIFT})
