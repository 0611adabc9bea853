"""Known mistakes: those of LayerNorm's forward pass that float32 can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises.bank import borrowed
from gpu_worker.exercises.layernorm import mistakes as layernorm

_FORMULA: Final = "one-sweep"
"""The chapter's formula that has the mean and the variance of a row."""

MISTAKES: Final = tuple(
    replace(known, formula=_FORMULA)
    for known in borrowed(
        layernorm.MISTAKES,
        ("public", "forward", "shapes", "precision", "state"),
        without=(
            *("float32-inside", "float16-inside", "float16-accumulation", "dgamma-axis-zero"),
            *("dgamma-accumulates", "dout-modified"),
        ),
    )
)
KERNEL_MISTAKES: Final = tuple(
    replace(known, formula=_FORMULA) for known in layernorm.KERNEL_MISTAKES_FORWARD
)
