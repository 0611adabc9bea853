"""Root mean square normalization, forward and backward."""

from __future__ import annotations

from gpu_worker.exercises.spec import Specification

SPECIFICATION = Specification(
    title="RMSNorm, forward and backward",
    class_name="RMSNormScratch",
    parameters=("gamma",),
    timed_shape=(509, 1024),
    counted_shape=(16, 1024),
)
