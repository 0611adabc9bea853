"""What the site may ask of the engine beside a grading: whether an exercise tells right from wrong.

The only door from `grader` to the judge: publishing an exercise and `manage.py check_exercises`
run its stored submissions and mutants here, in a sandbox of their own.
"""

from __future__ import annotations

from gpu_worker.exercises.stored import HeaderError
from gpu_worker.judge.running.builds import kernels_missing
from gpu_worker.judge.strength.checks import Fate, check_mutants, check_stored
from gpu_worker.sandbox.client import SandboxError, Zygote

__all__ = (
    "Fate",
    "HeaderError",
    "SandboxError",
    "Zygote",
    "check_mutants",
    "check_stored",
    "kernels_missing",
)
