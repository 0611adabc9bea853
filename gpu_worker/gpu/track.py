"""A held device, for the judge; implements `gpu_worker.judge.running.device_track`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.gpu.cases import device_cases
from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.speed import measure_on_device
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.running.timed_calls import Timed
from gpu_worker.sandbox.client import Zygote

MEASURED_WITHIN_SECONDS: Final = 30.0
"""A grading that took longer before is not timed: a worker's task is killed at its hard limit."""


class HeldDevice:
    """A device whose lock is held, with what was found of it just before."""

    library = "device"

    def __init__(self, gpu: Gpu, facts: Facts, clock: Callable[[], float] = time.monotonic) -> None:
        self._gpu = gpu
        self._facts = facts
        self._clock = clock
        self._begun = clock()

    @property
    def execution(self) -> str:
        """How a report says where the program ran."""
        facts = self._facts
        return f"on a device: {facts.name}, CuPy {facts.cupy}, CUDA {facts.cuda}"[:200]

    def further_cases(self, exercise: Exercise, seed: int) -> list[Case]:
        """Return the hidden cases that only a device can run."""
        return device_cases(exercise, seed)

    def measure(
        self,
        exercise: Exercise,
        source: str,
        limits: Mapping[str, float],
        zygote: Zygote,
        rng: np.random.Generator,
    ) -> Timed:
        """Time a submission that passed every case, unless that took too long already.

        Raises:
            SandboxError: the sandbox, or the judge's own process on the device, failed.
        """
        if self._clock() - self._begun > MEASURED_WITHIN_SECONDS:
            return Timed()
        return measure_on_device(self._gpu, self._facts, exercise, source, limits, zygote, rng)
