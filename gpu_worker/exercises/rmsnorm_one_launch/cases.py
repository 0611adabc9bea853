"""What is tested of RMSNorm forward in one launch: as in two kernels, with a tighter budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises.rmsnorm_two_kernels import cases

GROUPS: Final = tuple(
    replace(group, title="At most 3.25 times the bytes of x moved, in one launch")
    if group.id == "traffic"
    else group
    for group in cases.GROUPS
)
PUBLIC_CASES: Final = cases.PUBLIC_CASES
PLANS: Final = cases.PLANS
