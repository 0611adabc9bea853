"""Known mistakes in softmax and cross-entropy, each the reference with one step replaced.

To add one, write a variant in the module that it belongs to: a class that overrides one method
of the reference, decorated with its id and a sentence for the learner.
"""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.softmax_cross_entropy.mistakes import (
    conduct,
    digits,
    gradients,
    losses,
    sums,
)

MISTAKES: Final = (
    *digits.MISTAKES,
    *sums.MISTAKES,
    *losses.MISTAKES,
    *gradients.MISTAKES,
    *conduct.MISTAKES,
)
