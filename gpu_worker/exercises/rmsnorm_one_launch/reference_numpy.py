"""RMSNorm in NumPy: results are compared with those of the exercise `rmsnorm`."""

from __future__ import annotations

from gpu_worker.exercises.rmsnorm.reference_numpy import RMSNormScratch, term_sizes

__all__ = ("RMSNormScratch", "term_sizes")
