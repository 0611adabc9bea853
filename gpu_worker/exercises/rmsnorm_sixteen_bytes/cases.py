"""What is tested of RMSNorm forward, 16 bytes at a time: as in one kernel, with one bound more."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises.rmsnorm_two_kernels import cases

GROUPS: Final = tuple(
    replace(group, title="At most 2.25 times the bytes of x moved, 16 bytes at a time")
    if group.id == "traffic"
    else group
    for group in cases.GROUPS
)
PUBLIC_CASES: Final = cases.PUBLIC_CASES
PLANS: Final = cases.PLANS
