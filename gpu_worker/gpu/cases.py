"""Hidden cases that only a device can run, or that are only meaningful there.

More rows than a grid has blocks in its second dimension (65,535), and arrays whose alignment allows
no vector loads: a device stops a kernel that does not check. More than 2**31 elements are too many
for a case and are checked where calls are timed; see `speed`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.exercises.spec import CasePlan
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.cases.casegen import CaseDrawer

_STREAM: Final = 2
"""These cases have their own random stream, so that all other cases stay the same."""
_GROUP: Final = "shapes"


def plans(exercise: Exercise) -> tuple[CasePlan, ...]:
    """Return how the further cases of an exercise are drawn."""
    ids = [group.id for group in exercise.case_groups]
    group = _GROUP if _GROUP in ids else ids[-1]
    found = (
        CasePlan(group, "normal", "many-rows", "float32"),
        CasePlan(group, "normal", "many-rows", "bfloat16"),
        CasePlan(group, "normal", "packed", "float32", layout="offset"),
        CasePlan(group, "normal", "packed", "float16", layout="offset"),
        CasePlan(group, "normal", "packed", "bfloat16", layout="offset"),
    )
    return tuple(plan for plan in found if exercise.has_kernels_for(plan.dtype))


def device_cases(exercise: Exercise, seed: int) -> list[Case]:
    """Return the further cases of one grading, all numbers drawn from `seed`."""
    draw = np.random.default_rng([seed, _STREAM])
    return [CaseDrawer(exercise, plan, draw).draw() for plan in plans(exercise)]
