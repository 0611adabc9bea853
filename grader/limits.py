"""The grader's limits, read from the settings at each use. Units are in the names."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from gpu_worker.messages.protocol import MAX_SOURCE_BYTES

__all__ = [
    "MAX_IDEMPOTENCY_KEY_CHARACTERS",
    "MAX_SOURCE_BYTES",
    "deleted_work_retention",
    "heartbeat_timeout",
    "jobs_on_queue_per_learner",
    "max_grading_attempts",
    "max_open_submissions",
    "max_regrade_submissions",
    "max_returns",
    "outbox_batch_size",
    "regrades_on_queue",
    "resend_after",
    "return_pause",
    "run_retention",
    "run_silence",
    "run_wait",
    "runs_per_minute",
    "submissions_per_minute",
    "token_lifetime_days",
]

MAX_IDEMPOTENCY_KEY_CHARACTERS = 200


def heartbeat_timeout() -> timedelta:
    return timedelta(seconds=settings.GRADING["HEARTBEAT_TIMEOUT_SECONDS"])


def max_grading_attempts() -> int:
    return int(settings.GRADING["MAX_GRADING_ATTEMPTS"])


def max_returns() -> int:
    """How often nodes may return a job before its verdict is given up."""
    return int(settings.GRADING["MAX_RETURNS"])


def return_pause(returns: int) -> timedelta:
    """How long a job waits after this many returns: not at all the first time."""
    if returns < 2:
        return timedelta(0)
    return timedelta(seconds=settings.GRADING["RETURN_PAUSE_SECONDS"]) * 2 ** (returns - 2)


def max_open_submissions() -> int:
    return int(settings.GRADING["MAX_OPEN_SUBMISSIONS_PER_LEARNER"])


def submissions_per_minute() -> int:
    return int(settings.GRADING["SUBMISSIONS_PER_MINUTE"])


def jobs_on_queue_per_learner() -> int:
    """How many of a learner's jobs may be on a queue or with its workers at once.

    One being graded and the next one ready; the others wait until one ends.
    """
    return int(settings.GRADING["JOBS_ON_QUEUE_PER_LEARNER"])


def regrades_on_queue() -> int:
    """How many jobs of regrades may be on a queue or with its workers at once."""
    return int(settings.GRADING["REGRADES_ON_QUEUE"])


def max_regrade_submissions() -> int:
    return int(settings.GRADING["MAX_REGRADE_SUBMISSIONS"])


def outbox_batch_size() -> int:
    return int(settings.GRADING["OUTBOX_BATCH_SIZE"])


def token_lifetime_days() -> int:
    return int(settings.GRADING["TOKEN_LIFETIME_DAYS"])


def runs_per_minute() -> int:
    return int(settings.GRADING["RUNS_PER_MINUTE"])


def run_wait() -> timedelta:
    """How long a run may wait for a worker; nobody looks at it after that."""
    return timedelta(seconds=settings.GRADING["RUN_WAIT_SECONDS"])


def run_silence() -> timedelta:
    """How long a worker that took a run may stay silent before it counts as lost."""
    return timedelta(seconds=settings.GRADING["RUN_SILENCE_SECONDS"])


def deleted_work_retention() -> timedelta:
    """How long graded work of deleted accounts is kept, without their name; zero for not at all."""
    return timedelta(days=settings.GRADING["DELETED_WORK_DAYS"])


def run_retention() -> timedelta:
    """How long a finished run is kept."""
    return timedelta(hours=settings.GRADING["RUN_RETENTION_HOURS"])


def resend_after() -> timedelta:
    """How long a sent message may stay unclaimed before it is considered vanished.

    Longer than the broker takes to redeliver a dead worker's message.
    """
    return timedelta(
        seconds=settings.QUEUE_VISIBILITY_TIMEOUT_SECONDS
        + settings.GRADING["RESEND_MARGIN_SECONDS"]
    )
