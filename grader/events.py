"""What happened to a submission, in order: read from the rows that its life left behind.

Every moment is written once, by the site's clock, in the transaction in which it happened; so the
events of a submission only grow, and their numbers stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models

from .models import (
    AttemptState,
    AuditAction,
    AuditEntry,
    GradingAttempt,
    Outcome,
    RegradeItem,
    RegradeItemState,
    ScoreOverride,
    Submission,
)


class EventKind(models.TextChoices):
    SUBMITTED = "submitted", "The submission came in and waits for a worker."
    RESUBMITTED = "resubmitted", "It was sent again and waits for a worker."
    CLAIMED = "claimed", "A worker took it."
    LOST = "lost", "The attempt ended without a verdict."
    RETRIED = "retried", "It waits for a worker once more."
    GRADED = "graded", "The verdict is there."
    GIVEN_UP = "given_up", "The platform could not grade it."
    DECIDED = "decided", "A grader decided."
    SCORE_SET = "score_set", "A grader gave it another score."
    SCORE_BACK = "score_back", "The score of the grading holds again."
    REGRADED = "regraded", "It was graded again, and the new result was taken over."
    REGRADE_UNDONE = "regrade_undone", "The result from before the regrade is back."


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `number` counts from 1; `detail` depends on the kind."""

    number: int
    kind: EventKind
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)


Moment = tuple[datetime, EventKind, dict[str, Any]]


def events_of(submission: Submission) -> list[Event]:
    """Return everything that happened to the submission so far, the oldest first."""
    attempts = list(submission.attempts.filter(regrade_item__isnull=True).order_by("number"))
    graded_score = _graded_score(submission)
    moments = [moment for attempt in attempts for moment in _of_attempt(attempt, graded_score)]
    moments += _givings_up(attempts)
    if submission.decided_at:
        detail = _result(submission.outcome, submission.score)
        detail["reason"] = submission.decision_reason
        moments.append((submission.decided_at, EventKind.DECIDED, detail))
    moments += _of_overrides(submission)
    applied = submission.regrade_items.filter(applied_version__isnull=False)
    for item in applied.select_related("run").defer("report", "old_report"):
        moments += _of_regrade(item)
    # The sort is stable: what happened in one moment stays in the order in which it is made here.
    moments.sort(key=lambda moment: moment[0])
    return [
        Event(number, kind, at, detail)
        for number, (at, kind, detail) in enumerate(moments, start=1)
    ]


def _graded_score(submission: Submission) -> float | None:
    """Return the score of the grading, before any regrade, decision or score of a person."""
    regrades = submission.regrade_items.filter(applied_version__isnull=False)
    first = regrades.order_by("run__committed_at").only("old_score").first()
    if first is not None:
        return first.old_score
    override = ScoreOverride.objects.filter(submission=submission).first()
    return override.graded_score if override else submission.score


def _of_attempt(attempt: GradingAttempt, graded_score: float | None) -> Iterator[Moment]:
    """Yield what happened to an attempt. Only the last one of a submission can have a score."""
    number = {"attempt": attempt.number}
    if attempt.number == 1:
        beginning = EventKind.SUBMITTED
    elif attempt.try_number == 1:
        beginning = EventKind.RESUBMITTED
    else:
        beginning = EventKind.RETRIED
    yield attempt.created_at, beginning, number
    if attempt.claimed_at:
        yield attempt.claimed_at, EventKind.CLAIMED, number
    if attempt.finished_at and attempt.state == AttemptState.LOST:
        yield attempt.finished_at, EventKind.LOST, {**number, "reason": attempt.end_reason}
    elif attempt.finished_at:
        score = graded_score if attempt.outcome in Outcome.scored() else None
        result = _result(attempt.outcome, score)
        yield attempt.finished_at, EventKind.GRADED, {**number, **result}


def _givings_up(attempts: list[GradingAttempt]) -> Iterator[Moment]:
    """Yield the losses that no further try followed: the last ones before it was sent again."""
    # A loss and the next try are written together, so one without a successor was the last.
    successors: list[GradingAttempt | None] = [*attempts[1:], None]
    for attempt, successor in zip(attempts, successors, strict=False):
        is_last_try = successor is None or successor.try_number == 1
        if attempt.state == AttemptState.LOST and attempt.finished_at and is_last_try:
            outcome = {"attempt": attempt.number, "outcome": Outcome.NOT_GRADABLE.value}
            yield attempt.finished_at, EventKind.GIVEN_UP, outcome


def _of_overrides(submission: Submission) -> Iterator[Moment]:
    kinds = {
        AuditAction.OVERRIDE_SET.value: EventKind.SCORE_SET,
        AuditAction.OVERRIDE_REMOVED.value: EventKind.SCORE_BACK,
    }
    acts = AuditEntry.objects.filter(target=f"submission:{submission.public_id}", action__in=kinds)
    for act in acts.order_by("id"):
        yield act.created_at, kinds[act.action], dict(act.detail)


def _of_regrade(item: RegradeItem) -> Iterator[Moment]:
    run = {"regrade": item.run.public_id}
    if item.run.committed_at:
        taken = {**_result(item.outcome, item.score), **run}
        yield item.run.committed_at, EventKind.REGRADED, taken
    if item.run.undone_at and item.state == RegradeItemState.UNDONE:
        back = {**_result(item.old_outcome, item.old_score), **run}
        yield item.run.undone_at, EventKind.REGRADE_UNDONE, back


def _result(outcome: str | None, score: float | None) -> dict[str, Any]:
    return {"outcome": outcome, "score": score}
