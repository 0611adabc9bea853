"""One held device as the judge uses it; see `gpu_worker.judge.device_track`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_worker.exercises.registry import Exercise
from gpu_worker.gpu.cases import device_cases
from gpu_worker.gpu.examination import Facts
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.speed import measure_on_device
from gpu_worker.judge.case import Case
from gpu_worker.judge.speed import Timed
from gpu_worker.sandbox.client import Zygote


class HeldDevice:
    """A device whose lock is held, with what was found of it just before."""

    library = "device"

    def __init__(self, gpu: Gpu, facts: Facts) -> None:
        self._gpu = gpu
        self._facts = facts

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
        """Time a submission that passed every case.

        Raises:
            SandboxError: the sandbox, or the judge's own process on the device, failed.
        """
        return measure_on_device(self._gpu, self._facts, exercise, source, limits, zygote, rng)
