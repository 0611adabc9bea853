"""Digits that are lost on the way."""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.bank import Bank
from gpu_worker.exercises.lost_digits import add_lost_digits
from gpu_worker.exercises.softmax_cross_entropy.reference_numpy import SoftmaxCrossEntropyScratch

MISTAKES: Final = Bank()

add_lost_digits(
    MISTAKES,
    SoftmaxCrossEntropyScratch,
    {"step": "definition", "formula": "softmax", "line": "cast", "test": "losses"},
)
