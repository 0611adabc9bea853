"""RMSNorm backward that reads x and dout once."""

from __future__ import annotations

from gpu_worker.exercises.spec import Budget, Specification

SPECIFICATION = Specification(
    title="RMSNorm backward in fused kernels",
    class_name="RMSNormScratch",
    parameters=("gamma",),
    longest_row=8192,
    counted_shape=(64, 1024),
    budgets=(
        Budget(
            group="traffic",
            direction="backward",
            shape=(64, 1024),
            moved=3.5,
            launches=3,
            explanation="One kernel can compute dx and dgamma from the same registers: let a block "
            "take several rows, add up dout * xhat of its rows, write that sum once, and add the "
            "blocks' sums in a second kernel.",
        ),
    ),
)
