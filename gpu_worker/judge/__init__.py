"""The judge: draws inputs, holds the expected values, compares, names mistakes, reports."""

from __future__ import annotations

from gpu_worker.judge.grading import Graded, grade_source

__all__ = ["Graded", "grade_source"]
