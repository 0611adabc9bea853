"""What is tested of RMSNorm forward and backward, for float32."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises import row_plans
from gpu_worker.exercises.rmsnorm import cases
from gpu_worker.exercises.spec import Group

GROUPS: Final = (
    Group("public", "Public examples", 0.10),
    Group("forward", "Forward pass", 0.10),
    Group("gradient-x", "Gradient for x", 0.15),
    Group("gradient-gamma", "Gradient for gamma", 0.15),
    Group("shapes", "One to four dimensions, odd sizes, empty batches", 0.10),
    Group("precision", "Tiny and large values, eps", 0.05),
    Group("state", "Repeated calls and several instances", 0.10),
    Group("traffic", "Backward: at most 3.5 times the bytes of x moved, in three launches", 0.25),
)
PUBLIC_CASES: Final = tuple(
    replace(case, dtype="float32") for case in cases.PUBLIC_CASES if case.dtype != "float16"
)
PLANS: Final = row_plans.for_float32_kernels(cases.PLANS)
