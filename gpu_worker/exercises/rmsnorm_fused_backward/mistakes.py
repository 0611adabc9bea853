"""Known mistakes: those of RMSNorm that float32 can show."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.bank import borrowed
from gpu_worker.exercises.rmsnorm import mistakes as rmsnorm
from gpu_worker.exercises.rmsnorm_fused_backward.cases import GROUPS

MISTAKES: Final = borrowed(
    rmsnorm.MISTAKES,
    (group.id for group in GROUPS),
    without=("float32-inside", "float16-inside", "float16-accumulation"),
)
KERNEL_MISTAKES: Final = rmsnorm.KERNEL_MISTAKES
