"""The states, outcomes, tracks and phases in the database, each with its text beside it.

Values are the engine's; a test compares them, so that the two cannot drift.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models

from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU


class SubmissionState(models.TextChoices):
    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "claimed by a worker"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    # Of a second verdict alone: nobody waits for it any more, and nobody failed.
    REPLACED = "replaced", "replaced by a newer submission"

    @classmethod
    def open(cls) -> list[SubmissionState]:
        return [cls.QUEUED, cls.CLAIMED, cls.RUNNING]


class AttemptState(models.TextChoices):
    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "claimed by a worker"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    LOST = "lost", "lost"
    RETURNED = "returned", "given back by its node"
    REPLACED = "replaced", "replaced by a newer submission"

    @classmethod
    def open(cls) -> list[AttemptState]:
        return [cls.QUEUED, cls.CLAIMED, cls.RUNNING]

    @classmethod
    def with_worker(cls) -> list[AttemptState]:
        return [cls.CLAIMED, cls.RUNNING]


class Outcome(models.TextChoices):
    ACCEPTED = "accepted", "Accepted"
    WRONG_ANSWER = "wrong_answer", "Wrong answer"
    CONTRACT_ERROR = "contract_error", "Contract not met"
    RUNTIME_ERROR = "runtime_error", "Runtime error"
    TIME_LIMIT = "time_limit", "Time limit exceeded"
    MEMORY_LIMIT = "memory_limit", "Memory limit exceeded"
    OUTPUT_LIMIT = "output_limit", "Output limit exceeded"
    FLAGGED = "flagged", "Held for review"
    NOT_GRADABLE = "not_gradable", "Could not be graded"

    @classmethod
    def scored(cls) -> list[Outcome]:
        """The outcomes that carry a score: all but those a person or the platform must settle."""
        return [outcome for outcome in cls if outcome not in (cls.FLAGGED, cls.NOT_GRADABLE)]


class NodeKind(models.TextChoices):
    """Which kind of node a verdict comes from."""

    FUNCTIONAL = "functional", "on a processor"
    DEVICE = "device", "on a GPU"

    @property
    def queue(self) -> str:
        """Where jobs for such nodes go."""
        return QUEUE_GPU if self is NodeKind.DEVICE else QUEUE_CPU


class Track(models.TextChoices):
    NUMPY = "numpy", "NumPy"
    CUPY = "cupy", "CuPy"

    @property
    def kind(self) -> NodeKind:
        """Whose verdict counts: a processor's, unless the operator requires a device."""
        required = self is Track.CUPY and settings.GRADING["CUPY_REQUIRES_DEVICE"]
        return NodeKind.DEVICE if required else NodeKind.FUNCTIONAL

    @property
    def second_kind(self) -> NodeKind | None:
        """Whose verdict is shown beside the one that counts; None where one is all there is."""
        if self is not Track.CUPY:
            return None
        return NodeKind.FUNCTIONAL if self.kind is NodeKind.DEVICE else NodeKind.DEVICE


class Phase(models.TextChoices):
    CLAIMED = "claimed", "claimed by a worker"
    SETTING_UP = "setting_up", "setting up the sandbox"
    RUNNING = "running", "running the cases"
    COMPARING = "comparing", "comparing the results"


class Queue(models.TextChoices):
    CPU = QUEUE_CPU, "CPU"
    GPU = QUEUE_GPU, "GPU"


class RunKind(models.TextChoices):
    CODE = "code", "a program"
    PUBLIC_CASES = "public_cases", "the public cases of an exercise"


class RunState(models.TextChoices):
    QUEUED = "queued", "waiting for a worker"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"


class RunOutcome(models.TextChoices):
    COMPLETED = "completed", "Ran to its end"
    WRONG_ANSWER = "wrong_answer", "Wrong result"
    CONTRACT_ERROR = "contract_error", "Contract not met"
    RUNTIME_ERROR = "runtime_error", "Runtime error"
    TIME_LIMIT = "time_limit", "Stopped: too slow"
    MEMORY_LIMIT = "memory_limit", "Stopped: too much memory"
    OUTPUT_LIMIT = "output_limit", "Stopped: too much output"
    FLAGGED = "flagged", "Stopped: not a normal run"
    NOT_RUN = "not_run", "Could not be run"
