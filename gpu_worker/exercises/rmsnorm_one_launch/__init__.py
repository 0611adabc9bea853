"""RMSNorm forward in one launch, which may read x twice."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

SPECIFICATION = Specification(
    title="RMSNorm forward in one launch",
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
            launches=1,
            explanation="Let one block take one row: its threads add up squares, meet in shared "
            "memory for the sum, and go over the row a second time for the output. What lies "
            "between the two passes stays on the chip.",
        ),
    ),
)
