"""LayerNorm forward in one kernel that reads x once."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

_EXPLANATION = (
    "Two sums need no second reading: once a thread has read its elements of x, keep them in "
    "registers, or in shared memory, until both are known. Rows have up to 8,192 elements."
)

SPECIFICATION = Specification(
    title="LayerNorm forward in one kernel",
    class_name="LayerNormScratch",
    parameters=("gamma", "beta"),
    longest_row=8192,
    counted_shape=(16, 1024),
    directions=("forward",),
    budgets=tuple(
        Budget("traffic", "forward", shape, moved=2.3, launches=1, explanation=_EXPLANATION)
        for shape in ((16, 1024), (8, 4096))
    ),
)
