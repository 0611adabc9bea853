"""Known mistakes in RMSNorm, each the reference with one step replaced.

To add one, write a variant in the module that it belongs to: a class that overrides one method
of the reference, decorated with its id and a sentence for the learner.
"""

from __future__ import annotations

from typing import Final

from gpu_worker.exercises.rmsnorm.mistakes import conduct, digits, gradients, kernels, statistics

MISTAKES: Final = (
    *digits.MISTAKES,
    *statistics.MISTAKES,
    *gradients.MISTAKES,
    *conduct.MISTAKES,
)
KERNEL_MISTAKES: Final = kernels.MISTAKES
"""Looked for on the CuPy track only."""
KERNEL_MISTAKES_FORWARD: Final = kernels.FORWARD
"""Those of them that exercises without a gradient can show."""
