"""Digits that are lost on the way, and the constructor's default."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch
from gpu_worker.exercises.lost_digits import add_default_eps, add_lost_digits

MISTAKES: Final = Bank()

add_lost_digits(
    MISTAKES,
    LayerNormScratch,
    {"step": "definition", "formula": "layernorm", "line": "mean-square", "test": "forward"},
    in_backward={"step": "result", "formula": "layernorm", "line": "dx", "test": "gradient-x"},
    scale="scale_and_shift",
    parameters=("gamma", "beta"),
)
add_default_eps(
    MISTAKES,
    LayerNormScratch,
    {"step": "definition", "formula": "layernorm", "line": "rstd", "test": "public"},
)
