"""RMSNorm forward in one kernel whose threads load and store 16 bytes at once."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

_EXPLANATION = (
    "Read x and gamma and write y through pointers to float4, four elements with each load and "
    "store: copy a float4 into a variable first, since each member that is reached through the "
    "pointer counts as a load of its own. Rows whose length is no multiple of four begin at "
    "addresses that are no multiple of 16: launch the scalar kernel for those."
)

SPECIFICATION = Specification(
    title="RMSNorm forward, 16 bytes at a time",
    class_name="RMSNormScratch",
    parameters=("gamma",),
    longest_row=8192,
    counted_shape=(16, 1024),
    directions=("forward",),
    budgets=tuple(
        Budget("traffic", "forward", shape, 2.25, _EXPLANATION, launches=1, at_once=12.0)
        for shape in ((16, 1024), (8, 4096))
    ),
)
