"""The interface of a device, as the judge uses it for submissions of the CuPy track.

`gpu_worker.gpu` implements it; results are judged as in every other run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.running.timed_calls import Timed
from gpu_worker.sandbox.client import Zygote


class DeviceTrack(Protocol):
    """One device, held for one grading."""

    @property
    def library(self) -> str:
        """The module of arrays of its jobs, see `inside.wire.Job`."""

    @property
    def execution(self) -> str:
        """How a report says where the program ran."""

    def further_cases(self, exercise: Exercise, seed: int) -> list[Case]:
        """Return the hidden cases that only a device can run."""

    def measure(
        self,
        exercise: Exercise,
        source: str,
        limits: Mapping[str, float],
        zygote: Zygote,
        rng: np.random.Generator,
    ) -> Timed:
        """Time a submission that passed every case.

        Raises:
            SandboxError: the sandbox failed.
        """
