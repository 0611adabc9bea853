"""What is tested of LayerNorm forward in one kernel: as of RMSNorm, with means that are large."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises.layernorm import cases
from gpu_worker.exercises.rmsnorm_fused_forward.cases import GROUPS as RMSNORM
from gpu_worker.exercises.row_plans import for_float32_kernels
from gpu_worker.exercises.spec import CasePlan

GROUPS: Final = tuple(
    replace(group, title="At most 2.3 times the bytes of x moved, in one launch")
    if group.id == "traffic"
    else group
    for group in RMSNORM
)
_TESTED: Final = frozenset(group.id for group in GROUPS)
PUBLIC_CASES: Final = tuple(
    replace(case, dtype="float32", dout=None)
    for case in cases.PUBLIC_CASES
    if case.dtype != "float16"
)
PLANS: Final = for_float32_kernels(
    (
        *(plan for plan in cases.PLANS if plan.group in _TESTED),
        # What subtracts the square of the mean is near enough in some rows.
        CasePlan("precision", "far-mean", "row-of-a-thousand", eps="positive"),
        CasePlan("precision", "far-mean", "cube", eps=1e-6),
    ),
    forward_only=True,
)
