"""From the outbox to the broker. A message that cannot be sent stays, and is sent later.

Sending twice is harmless: both copies carry the same lease, and the first verdict ends it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from gpu_worker.protocol import GradeJob
from gpu_worker.protocol import Track as JobTrack
from gpu_worker.queues import TASK_GRADE
from grader import limits
from grader.models import AttemptState, GradingAttempt, OutboxMessage
from grader.services.broker import BrokerUnreachable, CeleryTransport

logger = logging.getLogger(__name__)

SENDING_LOCK = timedelta(seconds=30)


class Transport(Protocol):
    """What dispatch needs of a broker."""

    def send(self, task: str, args: list[Any], queue: str, priority: int) -> None:
        """Put one task on a queue within a bounded time.

        Raises:
            BrokerUnreachable: it is not known to be on the queue.
        """

    def waiting(self, queue: str) -> int:
        """Return how many messages wait on the queue.

        Raises:
            BrokerUnreachable: the broker did not answer in time.
        """


_make_transport: Callable[[], Transport] = CeleryTransport


def use_transport(make: Callable[[], Transport]) -> Callable[[], Transport]:
    """Replace what makes transports, for tests; returns the former one to put back."""
    global _make_transport
    former, _make_transport = _make_transport, make
    return former


def transport() -> Transport:
    return _make_transport()


def enqueue(attempt: GradingAttempt) -> OutboxMessage:
    """Write the intent to send `attempt`, and try to send it as soon as the transaction holds."""
    message = OutboxMessage.objects.create(attempt=attempt)
    transaction.on_commit(lambda: try_send(message.pk), robust=True)
    return message


def try_send(message_id: int) -> bool:
    """Send one message now if nobody else does. Return whether the broker has it.

    Raises nothing when the broker is away: the message stays in the outbox.
    """
    try:
        return _send(message_id)
    except BrokerUnreachable as error:
        logger.warning("The queue is not reachable, message %s is kept: %s", message_id, error)
        return False


def send_outbox() -> int:
    """Send what waits in the outbox, oldest first. Return how many the broker took.

    Stops at the first failure: where the broker is away, the rest would only wait for timeouts.
    """
    sent = 0
    for message_id in _unsent_ids():
        try:
            sent += _send(message_id)
        except BrokerUnreachable as error:
            logger.warning("The queue is not reachable, the outbox waits: %s", error)
            break
    return sent


def _unsent_ids() -> list[int]:
    now = timezone.now()
    free = Q(locked_until__isnull=True) | Q(locked_until__lt=now)
    unsent = OutboxMessage.objects.filter(
        free, sent_at__isnull=True, attempt__state=AttemptState.QUEUED
    )
    return list(unsent.order_by("id").values_list("id", flat=True)[: limits.outbox_batch_size()])


def _send(message_id: int) -> bool:
    if not _lock(message_id):
        return False
    message = OutboxMessage.objects.select_related("attempt__submission__exercise").get(
        pk=message_id
    )
    attempt = message.attempt
    mine = OutboxMessage.objects.filter(pk=message_id, sent_at__isnull=True)
    try:
        transport().send(
            TASK_GRADE, [build_job(attempt).to_message()], attempt.queue, attempt.priority
        )
    except BrokerUnreachable as error:
        mine.update(locked_until=None, failures=F("failures") + 1, last_error=str(error)[:500])
        raise
    mine.update(locked_until=None, sent_at=timezone.now(), sends=F("sends") + 1, last_error="")
    return True


def _lock(message_id: int) -> bool:
    now = timezone.now()
    free = Q(locked_until__isnull=True) | Q(locked_until__lt=now)
    return bool(
        OutboxMessage.objects.filter(
            free, pk=message_id, sent_at__isnull=True, attempt__state=AttemptState.QUEUED
        ).update(locked_until=now + SENDING_LOCK)
    )


def build_job(attempt: GradingAttempt) -> GradeJob:
    """Return the message of one attempt: everything a worker needs, and nothing of the learner."""
    submission = attempt.submission
    return GradeJob(
        submission=submission.public_id,
        lease=attempt.lease,
        attempt=attempt.try_number,
        exercise=submission.exercise.slug,
        track=JobTrack(submission.track),
        source=submission.source,
    )
