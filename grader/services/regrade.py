"""Regrades: a dry run beside the submissions, then a commit if a person wants it, and its undo.

A person's decision is never overwritten: submissions that are held for review or were decided are
left out, and whatever changed between dry run and commit stays as it is.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from gpu_worker.messages.queues import PRIORITY_REGRADE
from grader import limits
from grader.access import may_change_submissions
from grader.models import (
    AuditAction,
    Outcome,
    RegradeItem,
    RegradeItemState,
    RegradeRun,
    RegradeScope,
    RegradeState,
    Submission,
    SubmissionState,
)

from . import dispatch
from .attempts import start_regrading
from .audit import record_act
from .errors import NotAllowed, RegradeNotReady, RegradeRefused
from .requirements import mark_exercise_met

MAX_NOTES: Final = 16


def start_regrade(
    by: User, submissions: QuerySet[Submission], chosen: dict[str, Any]
) -> RegradeRun:
    """Grade the submissions again as a dry run: nothing changes for the learners.

    `chosen` describes the selection, for those who look at the run later.

    Raises:
        NotAllowed: the person may not change submissions.
        RegradeRefused: none of them can be graded again, or they are too many for one run.
        RegradeNotReady: an earlier run of the same person is still being graded.
    """
    _check_allowed(by)
    most = limits.max_regrade_submissions()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=by.pk)
        _check_none_being_graded(by)
        found = _regradable(submissions).select_related(None).defer("source")
        batch = list(found.order_by("pk")[: most + 1])
        if not batch:
            raise RegradeRefused(
                "None of these submissions can be graded again. A submission must be finished, "
                "neither held for review nor decided by a person, and without a person's score."
            )
        if len(batch) > most:
            raise RegradeRefused(
                f"A run grades at most {most} submissions again. Choose fewer, for example by the "
                "time at which they were made."
            )
        run = RegradeRun.objects.create(
            created_by=by, filter=chosen, left_out=submissions.order_by().count() - len(batch)
        )
        items = RegradeItem.objects.bulk_create(_new_item(run, each) for each in batch)
        start_regrading(items, priority=PRIORITY_REGRADE)
        after = {"state": run.state, "filter": chosen}
        _record(by, AuditAction.REGRADE_STARTED, run, None, after, submissions=len(batch))
        transaction.on_commit(dispatch.send_outbox, robust=True)
    return run


def commit_regrade(by: User, run: RegradeRun, scope: str) -> RegradeRun:
    """Apply the run's results: all that differ, or only those that do not lower a score.

    Failures of the platform, and submissions that changed since the dry run, stay as they are. A
    requirement that was met stays met.

    Raises:
        NotAllowed: the person may not change submissions.
        RegradeRefused: an unknown scope.
        RegradeNotReady: the run is still being graded, or was committed before.
    """
    _check_allowed(by)
    if scope not in RegradeScope.values:
        raise RegradeRefused(f"Commit one of {', '.join(RegradeScope.values)}.", "scope")
    now = timezone.now()
    with transaction.atomic():
        _move(run, RegradeState.GRADED, RegradeState.COMMITTED, scope=scope, committed_at=now)
        graded = run.items.filter(state=RegradeItemState.GRADED).order_by("submission_id")
        items = list(graded.select_related("submission__exercise__chapter", "submission__user"))
        states = Counter(_apply(item, RegradeScope(scope), now) for item in items)
        before, after = {"state": RegradeState.GRADED}, {"state": RegradeState.COMMITTED}
        _record(
            by, AuditAction.REGRADE_COMMITTED, run, before, after, scope=scope, **_counts(states)
        )
    run.refresh_from_db()
    return run


def undo_regrade(by: User, run: RegradeRun) -> RegradeRun:
    """Revert a commit, except for submissions that changed since.

    Raises:
        NotAllowed: the person may not change submissions.
        RegradeNotReady: the run is not committed.
    """
    _check_allowed(by)
    now = timezone.now()
    with transaction.atomic():
        _move(run, RegradeState.COMMITTED, RegradeState.UNDONE, undone_at=now)
        applied = run.items.filter(state=RegradeItemState.APPLIED).order_by("submission_id")
        states = Counter(_take_back(item, now) for item in applied)
        before, after = {"state": RegradeState.COMMITTED}, {"state": RegradeState.UNDONE}
        _record(by, AuditAction.REGRADE_UNDONE, run, before, after, **_counts(states))
    run.refresh_from_db()
    return run


def _check_allowed(by: User) -> None:
    if not may_change_submissions(by):
        raise NotAllowed("Only graders grade submissions again.")


def _check_none_being_graded(by: User) -> None:
    running = RegradeRun.objects.filter(created_by=by, state=RegradeState.GRADING).first()
    if running is not None:
        raise RegradeNotReady(
            f"Your run {running.public_id} is still being graded. Start the next one after it."
        )


def _regradable(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    return submissions.filter(
        state=SubmissionState.FINISHED, decided_at__isnull=True, override__isnull=True
    ).exclude(outcome=Outcome.FLAGGED)


def _new_item(run: RegradeRun, submission: Submission) -> RegradeItem:
    return RegradeItem(
        run=run,
        submission=submission,
        submission_version=submission.version,
        old_outcome=Outcome(submission.outcome or ""),
        old_score=submission.score,
        old_report=submission.report,
    )


def _move(run: RegradeRun, before: RegradeState, after: RegradeState, **fields: Any) -> None:
    """Move the run from one state to the next, if it is in the first."""
    moved = RegradeRun.objects.filter(pk=run.pk, state=before).update(state=after, **fields)
    if not moved:
        run.refresh_from_db()
        raise RegradeNotReady(
            f"The run is {run.get_state_display()}; for this it would have to be {before.label}."
        )


def _apply(item: RegradeItem, scope: RegradeScope, now: datetime) -> RegradeItemState:
    if not item.differs or (item.lowers and scope is RegradeScope.NOT_LOWER):
        return _mark(item, RegradeItemState.LEFT)
    if not _write(item, item.submission_version, item.outcome, item.score, _noted(item, now), now):
        return _mark(item, RegradeItemState.CHANGED)
    if item.outcome == Outcome.ACCEPTED:
        mark_exercise_met(item.submission)
    return _mark(item, RegradeItemState.APPLIED, applied_version=item.submission_version + 1)


def _take_back(item: RegradeItem, now: datetime) -> RegradeItemState:
    version = item.applied_version or 0
    if not _write(item, version, item.old_outcome, item.old_score, item.old_report, now):
        return _mark(item, RegradeItemState.CHANGED)
    return _mark(item, RegradeItemState.UNDONE)


def _write(
    item: RegradeItem,
    version: int,
    outcome: str,
    score: float | None,
    report: dict[str, Any],
    now: datetime,
) -> bool:
    """Write a result, if the submission is still in the state that this run saw or made."""
    return bool(
        Submission.objects.filter(
            pk=item.submission_id,
            state=SubmissionState.FINISHED,
            version=version,
            decided_at__isnull=True,
        ).update(
            outcome=outcome,
            score=score,
            report=report,
            updated_at=now,
            version=F("version") + 1,
        )
    )


def _noted(item: RegradeItem, now: datetime) -> dict[str, Any]:
    """Return the new report with a note for the learner on the former result."""
    percent = None if item.old_score is None else int(item.old_score * 100 + 1e-9)
    score = "no score" if percent is None else f"score {percent} %"
    note = (
        f"Graded again on {now:%-d %B %Y}. Before, it was: "
        f"{Outcome(item.old_outcome).label}, {score}."
    )
    return {**item.report, "notes": [note, *item.report.get("notes", [])][:MAX_NOTES]}


def _mark(item: RegradeItem, state: RegradeItemState, **fields: Any) -> RegradeItemState:
    RegradeItem.objects.filter(pk=item.pk).update(state=state, **fields)
    return state


def _record(
    by: User,
    action: AuditAction,
    run: RegradeRun,
    before: dict[str, Any] | None,
    after: dict[str, Any],
    **detail: Any,
) -> None:
    """Record an act on a run; the results of each submission are in the run's items."""
    record_act(by, action, f"regrade:{run.public_id}", before=before, after=after, **detail)


def _counts(states: Counter[RegradeItemState]) -> dict[str, int]:
    return {state.value: number for state, number in sorted(states.items())}
