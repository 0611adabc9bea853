"""The one way to start a grading attempt."""

from __future__ import annotations

from django.db.models import Max

from grader.models import GradingAttempt, NodeKind, RegradeItem, Submission

from .dispatch import enqueue


def start_attempt(
    submission: Submission,
    kind: str,
    *,
    priority: int,
    try_number: int = 1,
    returns: int = 0,
    regrade_item: RegradeItem | None = None,
) -> GradingAttempt:
    """Make the next attempt with a fresh lease and put its message into the outbox.

    Its verdict is the submission's or its second one, by the kind of node, or the item's of a
    regrade. Call it inside the transaction that makes one of them wait for it.
    """
    # Attempts of both kinds are numbered together: one at a time, where the database can lock.
    list(Submission.objects.select_for_update(no_key=True).filter(pk=submission.pk).values("pk"))
    last = submission.attempts.aggregate(last=Max("number"))["last"] or 0
    attempt = GradingAttempt.objects.create(
        submission=submission,
        regrade_item=regrade_item,
        number=last + 1,
        try_number=try_number,
        returns=returns,
        kind=kind,
        queue=NodeKind(kind).queue,
        priority=priority,
    )
    enqueue(attempt)
    return attempt
