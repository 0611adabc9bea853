"""Withdraws second verdicts that a newer submission made pointless."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from gpu_worker.messages.queues import PRIORITY_LEARNER
from grader.models import AttemptState, GradingAttempt, Submission, SubmissionState

from .verdicts import update_open

REASON = "a newer submission took its place"


def withdraw_older(newest: Submission) -> None:
    """Withdraw the learner's older jobs for a second verdict that are not on the queue yet.

    A GPU may be busy, or missing for weeks: whoever has sent twenty versions meanwhile gets the
    latest graded, and the few that are on their way, instead of all twenty ahead of others. Call it
    in the transaction that creates the newest.
    """
    now = timezone.now()
    for attempt in _held_back(newest):
        ended = GradingAttempt.objects.filter(pk=attempt.pk, state=AttemptState.QUEUED).update(
            state=AttemptState.REPLACED, end_reason=REASON, finished_at=now
        )
        if ended:
            update_open(attempt, state=SubmissionState.REPLACED)


def _held_back(newest: Submission) -> QuerySet[GradingAttempt]:
    nobody_sends = Q(outbox__locked_until__isnull=True) | Q(outbox__locked_until__lt=timezone.now())
    return (
        GradingAttempt.objects.select_for_update(of=("self",))
        .select_related("submission")
        .filter(
            nobody_sends,
            state=AttemptState.QUEUED,
            # Neither repeated verdicts nor regrades.
            priority=PRIORITY_LEARNER,
            outbox__sent_at__isnull=True,
            submission__user=newest.user_id,
            submission__exercise=newest.exercise_id,
            submission__track=newest.track,
            submission__lt=newest.pk,
        )
        .exclude(kind=F("submission__kind"))
    )
