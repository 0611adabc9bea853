"""Runs that a learner waits for: no attempt, no score; one without an answer ends with a reason.

A run is not kept for later as a submission is: if the queue is down or a worker is lost, it ends as
`not_run`, and the learner runs again.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from gpu_worker import logs
from gpu_worker.messages import protocol
from gpu_worker.messages import runs as protocol_runs
from gpu_worker.messages.queues import PRIORITY_REGRADE, TASK_RUN
from grader import limits
from grader.models import CodeRun, Exercise, NodeKind, RunKind, RunOutcome, RunState, Track

from .broker import BrokerUnreachable
from .dispatch import transport
from .errors import TooMany
from .sources import check_source
from .submit import check_track

logger = logging.getLogger(__name__)

RATE_WINDOW = timedelta(seconds=60)
RUN_QUEUE = NodeKind.FUNCTIONAL.queue
"""Kernels of a run are executed on a processor: a run is for a quick look, and never counts."""
RUNS_PER_PRIORITY = 4
"""A learner who runs this often within the window falls one step behind the others."""
RETRY_AFTER_OPEN_RUN_SECONDS = 2


def start_run(
    user: User, source: str | bytes, exercise: Exercise | None = None, track: str = Track.NUMPY
) -> CodeRun:
    """Queue a source: the public cases of an exercise, or without one the program itself.

    Within a priority the queue is first come, first served, and a learner has at most one run
    there: so runs are quick, and gradings wait for one run of each learner at most.

    Raises:
        Refused: one of its kinds, with a text for the learner; nothing was queued.
    """
    text = check_source(source)
    if exercise is not None:
        check_track(exercise, track)
    try:
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=user.pk)
            end_late_runs(user=user)
            recent = _check_rate(user)
            run = CodeRun.objects.create(
                user=user,
                kind=RunKind.CODE if exercise is None else RunKind.PUBLIC_CASES,
                exercise=exercise,
                track=track,
                source=text,
            )
            priority = min(recent // RUNS_PER_PRIORITY, PRIORITY_REGRADE - 1)
            transaction.on_commit(lambda: _send(run.pk, priority), robust=True)
            return run
    except IntegrityError as error:
        raise _still_running() from error


def record_run(update: protocol_runs.RunUpdate) -> bool:
    """Record a worker's message on a run, under its lease. Return False where that is closed.

    A worker's start may arrive after its end, or after the run was given up: it changes nothing.
    """
    now = timezone.now()
    mine = CodeRun.objects.filter(public_id=update.run, lease=update.lease)
    if update.outcome is None:
        moved = mine.filter(state=RunState.QUEUED).update(
            state=RunState.RUNNING, node=update.node, started_at=now
        )
    else:
        moved = mine.exclude(state=RunState.FINISHED).update(
            state=RunState.FINISHED,
            outcome=RunOutcome(update.outcome),
            report=update.report.model_dump(mode="json"),
            node=update.node,
            finished_at=now,
        )
    if not moved:
        logger.info("An answer for run %s from %s changes nothing.", update.run, update.node)
    return bool(moved)


def end_late_runs(now: datetime | None = None, *, user: User | None = None) -> int:
    """End unanswered runs: no worker took them in time, or the worker was lost."""
    moment = now or timezone.now()
    runs = CodeRun.objects.all() if user is None else CodeRun.objects.filter(user=user)
    unclaimed = runs.filter(state=RunState.QUEUED, created_at__lt=moment - limits.run_wait())
    silent = runs.filter(state=RunState.RUNNING, started_at__lt=moment - limits.run_silence())
    return _end(
        unclaimed,
        "No worker was free in time, so the run was given up. This is not your program's fault. "
        "Run it again.",
    ) + _end(
        silent,
        "The worker that ran your program was lost before it answered. This is not your program's "
        "fault. Run it again.",
    )


def purge_runs(now: datetime | None = None) -> int:
    """Delete runs that ended longer ago than they are kept."""
    limit = (now or timezone.now()) - limits.run_retention()
    deleted, _ = CodeRun.objects.filter(state=RunState.FINISHED, finished_at__lt=limit).delete()
    return deleted


def _send(run_id: int, priority: int) -> None:
    run = CodeRun.objects.select_related("exercise").get(pk=run_id)
    try:
        with logs.about(run=run.public_id):
            transport().send(TASK_RUN, [build_run_job(run).to_message()], RUN_QUEUE, priority)
    except BrokerUnreachable as error:
        logger.warning("The queue is not reachable, run %s ends: %s", run.public_id, error)
        _end(
            CodeRun.objects.filter(pk=run_id),
            "The grading queue cannot be reached at the moment. Run it again in a minute; "
            "submitting works meanwhile, and is graded later.",
        )


def build_run_job(run: CodeRun) -> protocol_runs.RunJob:
    """Return the message of one run: everything a worker needs, and nothing of the learner."""
    return protocol_runs.RunJob(
        run=run.public_id,
        lease=run.lease,
        kind=protocol_runs.RunKind(run.kind),
        exercise=run.exercise.slug if run.exercise else None,
        track=protocol.Track(run.track),
        source=run.source,
        expires_at=(run.created_at + limits.run_wait()).timestamp(),
    )


def _end(runs: Any, message: str) -> int:
    report = protocol_runs.RunReport(failure=protocol.Failure(message=message))
    ended: int = runs.filter(~Q(state=RunState.FINISHED)).update(
        state=RunState.FINISHED,
        outcome=RunOutcome.NOT_RUN,
        report=report.model_dump(mode="json"),
        finished_at=timezone.now(),
    )
    return ended


def _check_rate(user: User) -> int:
    """Return the learner's number of runs within the window, if one more is allowed."""
    now = timezone.now()
    own = CodeRun.objects.filter(user=user)
    if own.exclude(state=RunState.FINISHED).exists():
        raise _still_running()
    times = list(
        own.filter(created_at__gt=now - RATE_WINDOW)
        .order_by("-created_at")
        .values_list("created_at", flat=True)[: limits.runs_per_minute()]
    )
    if len(times) >= limits.runs_per_minute():
        wait = max(1, round((times[-1] + RATE_WINDOW - now).total_seconds() + 0.5))
        raise TooMany(
            f"You ran code {len(times)} times within a minute, which is the most allowed. "
            f"Try again in {wait} seconds.",
            wait,
        )
    return len(times)


def _still_running() -> TooMany:
    return TooMany(
        "Your last run has not ended yet, and one runs at a time. Wait for it: after a few "
        "seconds it is stopped by its time limit.",
        RETRY_AFTER_OPEN_RUN_SECONDS,
    )
