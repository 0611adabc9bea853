"""Digits that are lost on the way, and the constructor's default."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.lost_digits import add_default_eps, add_lost_digits
from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch

MISTAKES: Final = Bank()

add_lost_digits(
    MISTAKES,
    RMSNormScratch,
    {"step": "definition", "formula": "rmsnorm", "line": "mean-square", "test": "forward"},
    in_backward={"step": "result", "formula": "rmsnorm", "line": "dx", "test": "gradient-x"},
    scale="scale",
    parameters=("gamma",),
)
add_default_eps(
    MISTAKES,
    RMSNormScratch,
    {"step": "definition", "formula": "rmsnorm", "line": "rstd", "test": "public"},
)
