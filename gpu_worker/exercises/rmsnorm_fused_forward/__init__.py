"""RMSNorm forward in one kernel that reads x once."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

_EXPLANATION = (
    "Once a thread has read its elements of x, keep them in registers, or in shared memory, until "
    "the sum is known: then nothing is read a second time. Rows have up to 8,192 elements."
)

SPECIFICATION = Specification(
    title="RMSNorm forward in one kernel",
    class_name="RMSNormScratch",
    parameters=("gamma",),
    longest_row=8192,
    counted_shape=(16, 1024),
    directions=("forward",),
    budgets=tuple(
        Budget("traffic", "forward", shape, moved=2.25, launches=1, explanation=_EXPLANATION)
        for shape in ((16, 1024), (8, 4096))
    ),
)
