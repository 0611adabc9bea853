"""LayerNorm in NumPy: results are compared with those of the exercise `layernorm`."""

from __future__ import annotations

from gpu_worker.exercises.layernorm.reference_numpy import LayerNormScratch, term_sizes

__all__ = ("LayerNormScratch", "term_sizes")
