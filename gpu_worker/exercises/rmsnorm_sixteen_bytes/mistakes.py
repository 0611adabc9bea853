"""Known mistakes: those of RMSNorm's forward pass that float32 can show."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.bank import borrowed
from gpu_worker.exercises.rmsnorm import mistakes as rmsnorm

MISTAKES: Final = borrowed(
    rmsnorm.MISTAKES,
    ("public", "forward", "shapes", "precision", "state"),
    without=(
        *("float32-inside", "float16-inside", "float16-accumulation", "dgamma-axis-zero"),
        *("dgamma-accumulates", "dout-modified"),
    ),
)
KERNEL_MISTAKES: Final = rmsnorm.KERNEL_MISTAKES_FORWARD
