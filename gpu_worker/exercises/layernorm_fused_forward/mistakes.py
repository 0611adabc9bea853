"""Known mistakes: those of LayerNorm's forward pass that float32 can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gpu_worker.exercises.bank import borrowed
from gpu_worker.exercises.layernorm.mistakes import MISTAKES as LAYERNORM

MISTAKES: Final = tuple(
    # The chapter's formula that has the mean and the variance of a row.
    replace(known, formula="one-sweep")
    for known in borrowed(
        LAYERNORM,
        ("public", "forward", "shapes", "precision", "state"),
        without=(
            *("float32-inside", "float16-inside", "float16-accumulation", "dgamma-axis-zero"),
            *("dgamma-accumulates", "dout-modified"),
        ),
    )
)
