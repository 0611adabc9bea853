"""States, outcomes, tracks and phases in the database, each with a label.

Those that the engine defines take its values. A member of the engine's without a label here, or the
reverse, keeps the site from starting.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from django.conf import settings
from django.db import models

from gpu_worker.messages import protocol, runs
from gpu_worker.messages.queues import QUEUE_CPU, QUEUE_GPU

C = TypeVar("C", bound=type[models.TextChoices])


def labels(engine: type[StrEnum]) -> Callable[[C], C]:
    """Check that choices have the engine's members, in its order.

    Raises:
        TypeError: names the members on both sides.
    """

    def check(choices: C) -> C:
        ours, theirs = choices.__members__, engine.__members__
        if list(ours) != list(theirs):
            raise TypeError(
                f"grader.models.states.{choices.__name__} has {', '.join(ours)} and the engine's "
                f"{engine.__module__}.{engine.__name__} has {', '.join(theirs)}. Give each member "
                "of the engine's a label there, in its order, and make the migration."
            )
        return choices

    return check


class SubmissionState(models.TextChoices):
    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "claimed by a worker"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    # Second verdicts only: a newer submission made it pointless.
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


@labels(protocol.Outcome)
class Outcome(models.TextChoices):
    ACCEPTED = protocol.Outcome.ACCEPTED, "Accepted"
    WRONG_ANSWER = protocol.Outcome.WRONG_ANSWER, "Wrong answer"
    CONTRACT_ERROR = protocol.Outcome.CONTRACT_ERROR, "Contract not met"
    RUNTIME_ERROR = protocol.Outcome.RUNTIME_ERROR, "Runtime error"
    TIME_LIMIT = protocol.Outcome.TIME_LIMIT, "Time limit exceeded"
    MEMORY_LIMIT = protocol.Outcome.MEMORY_LIMIT, "Memory limit exceeded"
    OUTPUT_LIMIT = protocol.Outcome.OUTPUT_LIMIT, "Output limit exceeded"
    FLAGGED = protocol.Outcome.FLAGGED, "Held for review"
    NOT_GRADABLE = protocol.Outcome.NOT_GRADABLE, "Could not be graded"

    @classmethod
    def scored(cls) -> list[Outcome]:
        """The outcomes with a score: all except those that a person or the platform must settle."""
        return [outcome for outcome in cls if outcome not in (cls.FLAGGED, cls.NOT_GRADABLE)]


@labels(protocol.NodeKind)
class NodeKind(models.TextChoices):
    """The kind of node that a verdict comes from."""

    FUNCTIONAL = protocol.NodeKind.FUNCTIONAL, "on a processor"
    DEVICE = protocol.NodeKind.DEVICE, "on a GPU"

    @property
    def queue(self) -> str:
        """The queue of such nodes."""
        return QUEUE_GPU if self is NodeKind.DEVICE else QUEUE_CPU


@labels(protocol.Track)
class Track(models.TextChoices):
    NUMPY = protocol.Track.NUMPY, "NumPy"
    CUPY = protocol.Track.CUPY, "CuPy"

    @property
    def kind(self) -> NodeKind:
        """The kind of node whose verdict counts: a processor's, unless the operator requires a
        device.
        """
        required = self is Track.CUPY and settings.GRADING["CUPY_REQUIRES_DEVICE"]
        return NodeKind.DEVICE if required else NodeKind.FUNCTIONAL

    @property
    def second_kind(self) -> NodeKind | None:
        """The kind of node whose verdict is shown beside it; None where there is only one."""
        if self is not Track.CUPY:
            return None
        return NodeKind.FUNCTIONAL if self.kind is NodeKind.DEVICE else NodeKind.DEVICE


@labels(protocol.Phase)
class Phase(models.TextChoices):
    CLAIMED = protocol.Phase.CLAIMED, "claimed by a worker"
    SETTING_UP = protocol.Phase.SETTING_UP, "setting up the sandbox"
    RUNNING = protocol.Phase.RUNNING, "running the cases"
    COMPARING = protocol.Phase.COMPARING, "comparing the results"


class Queue(models.TextChoices):
    CPU = QUEUE_CPU, "CPU"
    GPU = QUEUE_GPU, "GPU"


@labels(runs.RunKind)
class RunKind(models.TextChoices):
    CODE = runs.RunKind.CODE, "a program"
    PUBLIC_CASES = runs.RunKind.PUBLIC_CASES, "the public cases of an exercise"


class RunState(models.TextChoices):
    QUEUED = "queued", "waiting for a worker"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"


@labels(runs.RunOutcome)
class RunOutcome(models.TextChoices):
    COMPLETED = runs.RunOutcome.COMPLETED, "Ran to its end"
    WRONG_ANSWER = runs.RunOutcome.WRONG_ANSWER, "Wrong result"
    CONTRACT_ERROR = runs.RunOutcome.CONTRACT_ERROR, "Contract not met"
    RUNTIME_ERROR = runs.RunOutcome.RUNTIME_ERROR, "Runtime error"
    TIME_LIMIT = runs.RunOutcome.TIME_LIMIT, "Stopped: too slow"
    MEMORY_LIMIT = runs.RunOutcome.MEMORY_LIMIT, "Stopped: too much memory"
    OUTPUT_LIMIT = runs.RunOutcome.OUTPUT_LIMIT, "Stopped: too much output"
    FLAGGED = runs.RunOutcome.FLAGGED, "Stopped: not a normal run"
    NOT_RUN = runs.RunOutcome.NOT_RUN, "Could not be run"
