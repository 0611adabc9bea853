"""The one way to start a grading attempt."""

from __future__ import annotations

from django.db.models import Max

from grader.models import GradingAttempt, RegradeItem, Submission, Track

from .dispatch import enqueue


def start_attempt(
    submission: Submission,
    *,
    priority: int,
    try_number: int = 1,
    regrade_item: RegradeItem | None = None,
) -> GradingAttempt:
    """Make the next attempt with a fresh lease and put its message into the outbox.

    Its verdict is the submission's, or the item's of a regrade. Call it inside the transaction
    that makes the one or the other wait for it.
    """
    last = submission.attempts.aggregate(last=Max("number"))["last"] or 0
    attempt = GradingAttempt.objects.create(
        submission=submission,
        regrade_item=regrade_item,
        number=last + 1,
        try_number=try_number,
        queue=Track(submission.track).queue,
        priority=priority,
    )
    enqueue(attempt)
    return attempt
