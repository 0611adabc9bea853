"""Starting grading attempts."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max

from grader.models import GradingAttempt, NodeKind, RegradeItem, Submission

from .dispatch import enqueue, enqueue_all


def start_attempt(
    submission: Submission,
    kind: str,
    *,
    priority: int,
    try_number: int = 1,
    returns: int = 0,
    regrade_item: RegradeItem | None = None,
) -> GradingAttempt:
    """Create the next attempt with a new lease, and its message in the outbox.

    Depending on the kind of node, its verdict becomes the submission's or its second one; or that
    of a regrade's item. Call it in the transaction that makes these wait for it.
    """
    # Attempts of both kinds share their numbers, so one at a time, where the database can lock.
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


def start_regrading(items: Sequence[RegradeItem], *, priority: int) -> None:
    """Create the first attempt of each item of a regrade, in a constant number of statements.

    Call it in the transaction that makes the items wait for it: one by one, a thousand attempts
    would block all other writers for seconds.
    """
    submissions = Submission.objects.filter(pk__in=[item.submission_id for item in items])
    list(submissions.select_for_update(no_key=True).order_by("pk").values("pk"))
    numbered = GradingAttempt.objects.filter(submission__in=submissions).order_by()
    last = dict(numbered.values_list("submission").annotate(last=Max("number")))
    enqueue_all(
        GradingAttempt.objects.bulk_create(
            GradingAttempt(
                submission=item.submission,
                regrade_item=item,
                number=last.get(item.submission_id, 0) + 1,
                kind=item.submission.kind,
                queue=NodeKind(item.submission.kind).queue,
                priority=priority,
            )
            for item in items
        )
    )
