"""The events of a submission in order, derived from its rows.

Each time is written once, by the site's clock, in the transaction of the event; so the events of a
submission only grow, and their numbers are stable.
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
    SecondVerdict,
    Submission,
)


class EventKind(models.TextChoices):
    SUBMITTED = "submitted", "The submission came in and waits for a worker."
    RESUBMITTED = "resubmitted", "It was sent again and waits for a worker."
    CLAIMED = "claimed", "A worker took it."
    LOST = "lost", "The attempt ended without a verdict."
    RETURNED = "returned", "The node that took it gave it back, through no fault of the program."
    RETRIED = "retried", "It waits for a worker once more."
    GRADED = "graded", "The verdict is there."
    GIVEN_UP = "given_up", "The platform could not grade it."
    REPLACED = "replaced", "A newer submission took its place in the queue."
    DECIDED = "decided", "A grader decided."
    SCORE_SET = "score_set", "A grader gave it another score."
    SCORE_BACK = "score_back", "The score of the grading holds again."
    REGRADED = "regraded", "It was graded again, and the new result was taken over."
    REGRADE_UNDONE = "regrade_undone", "The result from before the regrade is back."


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `number` counts from 1; `detail` depends on the kind."""

    number: int
    kind: EventKind
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)


Moment = tuple[datetime, EventKind, dict[str, Any]]


def events_of(submission: Submission) -> list[Event]:
    """Return all events of the submission so far, oldest first."""
    own = list(submission.attempts.filter(regrade_item__isnull=True).order_by("number"))
    second = SecondVerdict.objects.filter(submission=submission).first()
    scores = {submission.kind: _graded_score(submission)}
    if second is not None:
        scores[second.kind] = second.score
    former = _scores_asked_anew(submission)
    moments = list(_without_attempts(submission)) if not own else []
    for kind, score in scores.items():
        attempts = [attempt for attempt in own if attempt.kind == kind]
        counts = kind == submission.kind
        moments += _of_attempts(attempts, score, former, counts=counts)
    if submission.decided_at:
        detail = _result(submission.outcome, submission.score)
        detail["reason"] = submission.decision_reason
        moments.append((submission.decided_at, EventKind.DECIDED, detail))
    moments += _of_overrides(submission)
    applied = submission.regrade_items.filter(applied_version__isnull=False)
    for item in applied.select_related("run").defer("report", "old_report"):
        moments += _of_regrade(item)
    # The sort is stable: simultaneous events stay in the order in which they are made here.
    moments.sort(key=lambda moment: moment[0])
    return [
        Event(number, kind, at, _sound(detail))
        for number, (at, kind, detail) in enumerate(moments, start=1)
    ]


def _sound(detail: dict[str, Any]) -> dict[str, Any]:
    """Return the value if it has its type: imported rows may contain anything."""
    outcome, texts = detail.get("outcome"), ("kind", "reason", "regrade")
    sound = {name: detail[name] for name in texts if isinstance(detail.get(name), str)}
    if isinstance(number := detail.get("attempt"), int):
        sound["attempt"] = number
    if outcome in Outcome.values:
        sound["outcome"] = outcome
    sound["score"] = _score(detail.get("score"))
    return sound


def _score(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def _graded_score(submission: Submission) -> float | None:
    """Return the score of the grading, before any regrade, decision or override."""
    regrades = submission.regrade_items.filter(applied_version__isnull=False)
    first = regrades.order_by("run__committed_at").only("old_score").first()
    if first is not None:
        return first.old_score
    override = ScoreOverride.objects.filter(submission=submission).first()
    return override.graded_score if override else submission.score


def _scores_asked_anew(submission: Submission) -> dict[int, float | None]:
    """Return the former scores of second verdicts that graders asked for again, by attempt."""
    acts = _acts_on(submission, AuditAction.SECOND_ASKED)
    told = [(_told(act.detail), _told(act.before)) for act in acts]
    # Entries of former releases have the score beside the attempt.
    return {
        detail["attempt"]: _score({**detail, **before}.get("score"))
        for detail, before in told
        if isinstance(detail.get("attempt"), int)
    }


def _acts_on(submission: Submission, *actions: AuditAction) -> list[AuditEntry]:
    acts = AuditEntry.objects.filter(
        target=f"submission:{submission.public_id}", action__in=actions
    )
    return list(acts.order_by("id"))


def _told(value: Any) -> dict[str, Any]:
    """Return an entry's values; imported ones may be anything."""
    return value if isinstance(value, dict) else {}


def _without_attempts(submission: Submission) -> Iterator[Moment]:
    """Yield the events known from the submission alone: imported ones have no attempts."""
    yield submission.created_at, EventKind.SUBMITTED, {}
    if submission.finished_at:
        graded = _result(submission.outcome, _graded_score(submission))
        yield submission.finished_at, EventKind.GRADED, graded


_WITHOUT_VERDICT = {
    AttemptState.LOST.value: EventKind.LOST,
    AttemptState.RETURNED.value: EventKind.RETURNED,
}


def _of_attempts(
    attempts: list[GradingAttempt],
    score: float | None,
    former: dict[int, float | None],
    *,
    counts: bool,
) -> Iterator[Moment]:
    """Yield the events of the attempts for one kind of node, in order.

    `score` is that of the last graded one; `former` has those of others, by number. The submission
    itself arrived with the first attempt for the verdict that counts.
    """
    # An end without a verdict and the next attempt are written together.
    successors: list[GradingAttempt | None] = [*attempts[1:], None]
    # Without an attempt there is no last one either.
    for place, (attempt, successor) in enumerate(zip(attempts, successors, strict=False)):
        known = {"attempt": attempt.number, "kind": attempt.kind}
        if place or counts:
            yield attempt.created_at, _beginning(attempt, is_first=not place), known
        if attempt.claimed_at:
            yield attempt.claimed_at, EventKind.CLAIMED, known
        if not attempt.finished_at:
            continue
        if attempt.state == AttemptState.REPLACED:
            yield attempt.finished_at, EventKind.REPLACED, known
            continue
        if attempt.state not in _WITHOUT_VERDICT:
            given = former.get(attempt.number, score)
            kept = given if attempt.outcome in Outcome.scored() else None
            yield attempt.finished_at, EventKind.GRADED, known | _result(attempt.outcome, kept)
            continue
        reason = {"reason": attempt.end_reason}
        yield attempt.finished_at, _WITHOUT_VERDICT[attempt.state], known | reason
        if successor is None or _is_fresh(successor):
            given_up = {"outcome": Outcome.NOT_GRADABLE.value}
            yield attempt.finished_at, EventKind.GIVEN_UP, known | given_up


def _beginning(attempt: GradingAttempt, *, is_first: bool) -> EventKind:
    if is_first:
        return EventKind.SUBMITTED
    return EventKind.RESUBMITTED if _is_fresh(attempt) else EventKind.RETRIED


def _is_fresh(attempt: GradingAttempt) -> bool:
    """Return whether a person asked for the attempt, rather than an earlier failure."""
    return attempt.try_number == 1 and attempt.returns == 0


_OF_SCORES = ("score", "reason")


def _of_overrides(submission: Submission) -> Iterator[Moment]:
    kinds = {
        AuditAction.OVERRIDE_SET.value: EventKind.SCORE_SET,
        AuditAction.OVERRIDE_REMOVED.value: EventKind.SCORE_BACK,
    }
    for act in _acts_on(submission, *map(AuditAction, kinds)):
        # Entries of former releases have the new score in their detail.
        told = {**_told(act.detail), **_told(act.after)}
        yield act.created_at, kinds[act.action], {name: told.get(name) for name in _OF_SCORES}


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
