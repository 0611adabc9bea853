"""The lease reaper: ends attempts whose worker fell silent, and resends lost messages."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from gpu_worker.messages.protocol import Failure, Report
from gpu_worker.messages.queues import QUEUE_RESULTS
from grader import limits
from grader.models import (
    AttemptState,
    GradingAttempt,
    OutboxMessage,
    Outcome,
    SubmissionState,
)

from . import dispatch
from .attempts import start_attempt
from .broker import BrokerUnreachable
from .settle import settle
from .verdicts import update_open

logger = logging.getLogger(__name__)

UNREAD_PATIENCE: Final = 4
"""How many times longer an attempt may be silent while messages of workers lie unread."""


@dataclass(frozen=True, slots=True)
class Swept:
    """How many attempts the reaper ended, and how many messages it sent again."""

    lost: int
    resent: int


def requeue_lost(now: datetime | None = None) -> Swept:
    """End attempts whose lease ran out, and send messages again that the broker lost.

    A lease runs out by the age of the last heartbeat after a claim: a job that waits in a long
    queue is never given up, however old it is. While heartbeats may lie unread, because this
    process or the broker was down, the patience is longer.
    """
    moment = now or timezone.now()
    silent = _silent(moment - limits.heartbeat_timeout())
    if silent and not _is_empty(QUEUE_RESULTS):
        silent = _silent(moment - UNREAD_PATIENCE * limits.heartbeat_timeout())
    lost = 0
    for pk, heartbeat_at in silent:
        with transaction.atomic():
            attempt = (
                GradingAttempt.objects.select_for_update(of=("self",))
                .select_related("submission")
                .filter(pk=pk, heartbeat_at=heartbeat_at, state__in=AttemptState.with_worker())
                .first()
            )
            if attempt and end_attempt(attempt, "worker lost"):
                lost += 1
    return Swept(lost=lost, resent=resend_vanished(moment))


def end_attempt(attempt: GradingAttempt, reason: str, *, returned: bool = False) -> bool:
    """End an open attempt without a verdict, then start the next one or give up.

    A lost attempt costs a try; one that its node `returned` does not, but is limited too. Call it
    in a transaction. Return False where somebody else ended it first.
    """
    now = timezone.now()
    ended = GradingAttempt.objects.filter(
        pk=attempt.pk, lease=attempt.lease, state__in=AttemptState.open()
    ).update(
        state=AttemptState.RETURNED if returned else AttemptState.LOST,
        outcome=Outcome.NOT_GRADABLE if returned else "",
        end_reason=reason[:500],
        finished_at=now,
    )
    if not ended:
        return False
    if returned:
        again = attempt.returns < limits.max_returns()
    else:
        again = attempt.try_number < limits.max_grading_attempts()
    if again:
        _start_next(attempt, returned=returned)
    else:
        _give_up(attempt, reason, now, returned=returned)
    dispatch.send_next(attempt)
    logger.warning(
        "Submission %s, %s: try %s, given back %s times before, ended: %s",
        attempt.submission.public_id,
        attempt.kind,
        attempt.try_number,
        attempt.returns,
        reason,
    )
    return True


def _silent(since: datetime) -> list[tuple[int, datetime]]:
    silent = GradingAttempt.objects.filter(
        state__in=AttemptState.with_worker(), heartbeat_at__lt=since
    )
    return [
        (pk, heartbeat)
        for pk, heartbeat in silent.order_by("pk").values_list("pk", "heartbeat_at")
        if heartbeat is not None
    ]


def _start_next(attempt: GradingAttempt, *, returned: bool) -> None:
    if attempt.regrade_item is None:
        update_open(
            attempt, state=SubmissionState.QUEUED, phase="", case=0, cases=0, claimed_at=None
        )
    start_attempt(
        attempt.submission,
        attempt.kind,
        try_number=attempt.try_number + (not returned),
        returns=attempt.returns + returned,
        priority=attempt.priority,
        regrade_item=attempt.regrade_item,
    )


def _give_up(attempt: GradingAttempt, reason: str, now: datetime, *, returned: bool) -> None:
    number = attempt.returns + 1 if returned else attempt.try_number
    if returned:
        times = f"{number} times" if number > 1 else "once"
        what = f"This submission was given back {times} by the nodes that were to grade it"
    else:
        plural = "tries" if number > 1 else "try"
        what = f"The platform could not grade this submission in {number} {plural}"
    message = (
        f"{what}: {reason.rstrip('.')}. This is not your fault and does not count as an attempt. "
        "You can send it again."
    )[:4_000]
    report = Report(failure=Failure(message=message))
    settle(attempt, Outcome.NOT_GRADABLE, 0.0, report, now)


def resend_vanished(now: datetime) -> int:
    """Send messages again that the broker accepted but no longer has. Return how many.

    A broker can lose a message between delivering it and recording that. Such an attempt stays
    queued without a message. It is considered vanished if it was sent longer ago than a dead
    worker's message takes to be redelivered, and either its queue is empty or an attempt of the
    same priority sent later has been claimed. The lease stays the same: if the first message turns
    up after all, the first verdict counts.
    """
    late = OutboxMessage.objects.filter(
        sent_at__lt=now - limits.resend_after(), attempt__state=AttemptState.QUEUED
    ).annotate(overtaken=Exists(_claimed_later()))
    empty: dict[str, bool] = {}
    resent = 0
    for message in late.select_related("attempt").order_by("id"):
        queue = message.attempt.queue
        if not message.overtaken:
            if queue not in empty:
                empty[queue] = _is_empty(queue)
            if not empty[queue]:
                continue
        if OutboxMessage.objects.filter(pk=message.pk, sent_at=message.sent_at).update(
            sent_at=None
        ):
            logger.warning("Attempt %s vanished from queue %s.", message.attempt_id, queue)
            resent += dispatch.try_send(message.pk)
    return resent


def _claimed_later() -> QuerySet[OutboxMessage]:
    return OutboxMessage.objects.filter(
        attempt__queue=OuterRef("attempt__queue"),
        attempt__priority=OuterRef("attempt__priority"),
        attempt__claimed_at__isnull=False,
        sent_at__gt=OuterRef("sent_at"),
        sends=1,
    )


def _is_empty(queue: str) -> bool:
    try:
        return dispatch.transport().waiting(queue) == 0
    except BrokerUnreachable as error:
        logger.warning("The queue %s cannot be asked: %s", queue, error)
        return False
