"""A lane: takes one free, healthy device at a time for a job; with none, it hands the job back.

    a device that is not in quarantine and whose lock is free
      probe: it computes correctly, and the last user's memory is free again
        the grading, in a sandbox that has this device
      if the device may be to blame for how the run ended: probe once more
    a device that fails goes into quarantine, and the job goes back

A verdict needs a device that worked before the run, and after it too unless the run passed.
"""

from __future__ import annotations

import logging
import os
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from gpu_worker.gpu import inventory, quarantine
from gpu_worker.gpu.examination import Facts, UnusableError, examine
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.limits import device_megabytes, limits_of, watched_megabytes
from gpu_worker.gpu.lock import BusyError, device_lock
from gpu_worker.gpu.memory_watch import MemoryWatch
from gpu_worker.gpu.sandbox.profile import (
    DeviceProfile,
    bound_nodes,
    driver_folders,
    package_folders,
)
from gpu_worker.gpu.sandbox.zygote import DeviceZygote
from gpu_worker.gpu.track import HeldDevice
from gpu_worker.gpu.warming import warmed
from gpu_worker.judge import Graded
from gpu_worker.judge.grading import OnProgress, OnVerdict, Options, grade_source
from gpu_worker.messages.protocol import GradeJob, Outcome
from gpu_worker.sandbox.client import SandboxError

WAIT_SECONDS: Final = 5.0
"""How long a job waits for a device that another worker holds before it goes back."""
PROBE_SECONDS: Final = 15.0
"""How long a probe may take before a job, while the job waits."""
DRAIN_SECONDS: Final = 10.0
"""How long freeing the last user's memory may take."""
FREE_SHARE: Final = 0.75
"""Of a device's memory, before a submission gets it."""
_PAUSE_SECONDS: Final = 0.5
_HELD_UP: Final = "Its memory is not given back: %d of %d MB are free. A process may hang on it."
_CLEAR: Final = frozenset({Outcome.ACCEPTED, Outcome.CONTRACT_ERROR, Outcome.OUTPUT_LIMIT})
"""Outcomes that no fault of a device can cause."""

logger = logging.getLogger(__name__)


def _probe(gpu: Gpu) -> Facts:
    return examine(gpu, PROBE_SECONDS)


class ReturnedError(Exception):
    """The job goes back to the queue; the text says why, to learners too."""


class Lane:
    """The devices of this machine, as one process takes them."""

    def __init__(
        self,
        find: Callable[[], Sequence[Gpu]] = inventory.find,
        examine: Callable[[Gpu], Facts] = _probe,
        profile: Callable[[Gpu, Facts], DeviceProfile] | None = None,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find = find
        self._examine = examine
        self._profile = profile or profile_of
        self._pause = pause
        self._clock = clock
        self._zygotes: dict[str, DeviceZygote] = {}

    def close(self) -> None:
        """End the zygotes of all devices."""
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()

    def grade(
        self,
        job: GradeJob,
        node: str,
        on_progress: OnProgress | None = None,
        on_verdict: OnVerdict | None = None,
    ) -> Graded:
        """Grade a submission on a device; it is proven before any verdict that it may cause.

        Raises:
            ReturnedError: there is none, or it failed; the submission is not to blame.
            LookupError: there is no such exercise, or it has no such track.
        """
        with self._held() as (gpu, facts):
            proven: list[Outcome] = []

            def prove(graded: Graded) -> None:
                if graded.outcome not in _CLEAR and not proven:
                    self._prove(gpu)
                proven.append(graded.outcome)

            def offer(graded: Graded) -> None:
                prove(graded)
                if on_verdict:
                    on_verdict(graded)

            try:
                graded = self._grade(job, gpu, facts, node, on_progress, offer)
            except SandboxError as error:
                self._give_up(gpu, f"A run on it could not be ended or begun: {error}")
            prove(graded)
            return graded

    # --- taking a device ----------------------------------------------------------------------
    @contextmanager
    def _held(self) -> Iterator[tuple[Gpu, Facts]]:
        deadline = self._clock() + WAIT_SECONDS
        while True:
            for gpu in self._candidates():
                try:
                    lock = device_lock(gpu.uuid)
                    with lock:
                        facts = self._ready(gpu)
                        if facts is None:
                            continue
                        yield gpu, facts
                        return
                except BusyError:
                    continue
            if self._clock() >= deadline or not self._candidates():
                raise ReturnedError(self._why_none())
            self._pause(_PAUSE_SECONDS)

    def _candidates(self) -> list[Gpu]:
        return [gpu for gpu in self._find() if not gpu.problem and not quarantine.reason(gpu.uuid)]

    def _why_none(self) -> str:
        if not self._find():
            return "The worker that took this submission has no GPU."
        if self._candidates():
            return "Every GPU of the worker that took this submission is in use."
        return "No GPU of the worker that took this submission works at the moment."

    def _ready(self, gpu: Gpu) -> Facts | None:
        """Probe a device until the last user's memory is free; None once it is in quarantine."""
        deadline = self._clock() + DRAIN_SECONDS
        try:
            while True:
                facts = self._examine(gpu)
                if facts.free_megabytes >= FREE_SHARE * facts.memory_megabytes:
                    return facts
                if self._clock() >= deadline:
                    text = _HELD_UP % (facts.free_megabytes, facts.memory_megabytes)
                    raise UnusableError(text)
                self._pause(_PAUSE_SECONDS)
        except (UnusableError, OSError) as error:
            self._quarantine(gpu, str(error))
            return None

    def _prove(self, gpu: Gpu) -> None:
        """Probe a device after a run that did not pass: it may have been the device's fault."""
        if self._ready(gpu) is None:
            raise ReturnedError("The GPU failed while this submission ran on it.")

    def _give_up(self, gpu: Gpu, reason: str) -> NoReturn:
        self._quarantine(gpu, reason)
        raise ReturnedError("The GPU, or the sandbox around it, failed while this submission ran.")

    def _quarantine(self, gpu: Gpu, reason: str) -> None:
        logger.error("The GPU %s (%s) goes into quarantine: %s", gpu.uuid, gpu.name, reason)
        if zygote := self._zygotes.pop(gpu.uuid, None):
            zygote.close()
        try:
            quarantine.put(gpu.uuid, reason)
        except OSError as error:
            raise ReturnedError("The worker cannot keep its list of GPUs.") from error

    # --- using it -----------------------------------------------------------------------------
    def _grade(
        self,
        job: GradeJob,
        gpu: Gpu,
        facts: Facts,
        node: str,
        on_progress: OnProgress | None,
        on_verdict: OnVerdict,
    ) -> Graded:
        zygote = self._zygote(gpu, facts)
        used = facts.memory_megabytes - facts.free_megabytes
        limits = limits_of(facts)
        with MemoryWatch(gpu.uuid, watched_megabytes(facts, used)) as watch:
            zygote.ender = watch.descriptor
            try:
                return grade_source(
                    job.exercise,
                    job.track,
                    job.source,
                    Options(
                        cases=job.cases,
                        limits=limits,
                        node=node,
                        on_progress=on_progress,
                        on_verdict=on_verdict,
                    ),
                    zygote=zygote,
                    device=HeldDevice(gpu, facts),
                )
            finally:
                zygote.ender = None

    def _zygote(self, gpu: Gpu, facts: Facts) -> DeviceZygote:
        """Return the device's zygote, a new one where its nodes or its memory are others now."""
        profile = self._profile(gpu, facts)
        known = self._zygotes.get(gpu.uuid)
        if known is not None and known.profile == profile:
            return known
        if known is not None:
            known.close()
        made = self._zygotes[gpu.uuid] = DeviceZygote(profile)
        return made


def profile_of(gpu: Gpu, facts: Facts) -> DeviceProfile:
    """Return what runs on a device of this machine find in their sandbox."""
    site = Path(sysconfig.get_paths()["platlib"])
    return DeviceProfile(
        uuid=gpu.uuid,
        nodes=bound_nodes(gpu.nodes),
        libraries=driver_folders(os.environ),
        packages=package_folders(site),
        memory_bytes=device_megabytes(facts) << 20,
        kernels=warmed(facts),
    )
