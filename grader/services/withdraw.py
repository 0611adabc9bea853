"""Second verdicts that nobody waits for any more: a newer submission took their place."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from gpu_worker.messages.queues import PRIORITY_LEARNER
from grader.models import AttemptState, GradingAttempt, Submission, SubmissionState

from .verdicts import update_open

REASON = "a newer submission took its place"


def withdraw_older(newest: Submission) -> None:
    """Take back the learner's older jobs for a second verdict that are not on the queue yet.

    A GPU may be busy, or away for weeks: whoever has sent twenty versions meanwhile gets the
    latest graded, with the few before that are on their way, and not all twenty before others. Call
    it inside the transaction that makes the newest.
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
            # Not what somebody asked for again, nor regrades.
            priority=PRIORITY_LEARNER,
            outbox__sent_at__isnull=True,
            submission__user=newest.user_id,
            submission__exercise=newest.exercise_id,
            submission__track=newest.track,
            submission__lt=newest.pk,
        )
        .exclude(kind=F("submission__kind"))
    )
