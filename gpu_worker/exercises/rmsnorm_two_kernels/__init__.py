"""RMSNorm forward in two kernels: a reduction, and one pass over the elements."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

SPECIFICATION = Specification(
    title="RMSNorm forward in two kernels",
    class_name="RMSNormScratch",
    parameters=("gamma",),
    longest_row=8192,
    counted_shape=(16, 1024),
    directions=("forward",),
    budgets=(
        Budget(
            group="traffic",
            direction="forward",
            shape=(16, 1024),
            moved=3.25,
            launches=2,
            explanation="Each operation between arrays is a kernel that reads its inputs from "
            "memory and writes its result there. One ReductionKernel can square, add up and take "
            "the reciprocal root; one ElementwiseKernel can do both products.",
        ),
    ),
)
