"""What the site may ask of the engine besides gradings: whether an exercise tells right from wrong.

The only way from `grader` to the judge: `manage.py check_exercises` and `record_checks` run the
stored submissions and mutants here, in a sandbox of their own.
"""

from __future__ import annotations

from gpu_worker.exercises.stored import HeaderError
from gpu_worker.judge.running.builds import kernels_missing
from gpu_worker.judge.strength.checks import (
    Fate,
    check_mutants,
    check_stored,
    look_at,
    publishing_steps,
)
from gpu_worker.sandbox.client import SandboxError, Zygote

__all__ = (
    "Fate",
    "HeaderError",
    "SandboxError",
    "Zygote",
    "check_mutants",
    "check_stored",
    "kernels_missing",
    "look_at",
    "publishing_steps",
)
