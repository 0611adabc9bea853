"""From the outbox to the broker. A message that cannot be sent stays, and is sent later.

Sending twice is harmless: both copies carry the same lease, and the first verdict ends it.

Fairness: the broker serves first come, first served. So that nobody can fill it, each learner has
only a few messages there at once; the rest wait in the outbox, and one goes when one ends. Learners
thus take turns, however much each of them sent. Regrades, and repeated second verdicts, are
throttled likewise, all of them together: they have a lower priority.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from gpu_worker import logs
from gpu_worker.messages import protocol
from gpu_worker.messages.queues import PRIORITY_LEARNER, TASK_GRADE
from grader import limits
from grader.models import AttemptState, GradingAttempt, OutboxMessage
from grader.services.broker import BrokerUnreachable, CeleryTransport

logger = logging.getLogger(__name__)

SENDING_LOCK = timedelta(seconds=30)


class Transport(Protocol):
    """The operations that dispatch needs of a broker."""

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
    """Replace the factory of transports, for tests; returns the former one."""
    global _make_transport
    former, _make_transport = _make_transport, make
    return former


def transport() -> Transport:
    return _make_transport()


def enqueue(attempt: GradingAttempt) -> OutboxMessage:
    """Record the intent to send `attempt`; one that nodes returned repeatedly waits for a while.

    A learner's is sent on commit; regrades come in hundreds, and whoever starts them sends them
    together.
    """
    pause = limits.return_pause(attempt.returns)
    message = OutboxMessage.objects.create(
        attempt=attempt,
        locked_until=timezone.now() + pause if pause else None,
        request_id=logs.current(logs.REQUEST_ID) or _former_request_id(attempt),
    )
    if attempt.regrade_item_id is None:
        send_next(attempt)
    return message


def enqueue_all(attempts: Sequence[GradingAttempt]) -> None:
    """Record the intent to send the first attempts of a regrade, in one statement."""
    request_id = logs.current(logs.REQUEST_ID)
    OutboxMessage.objects.bulk_create(
        OutboxMessage(attempt=attempt, request_id=request_id) for attempt in attempts
    )


def _former_request_id(attempt: GradingAttempt) -> str:
    """Return the request that the submission's attempts go back to, for the reaper's attempts."""
    former = OutboxMessage.objects.filter(attempt__submission=attempt.submission_id)
    return former.order_by("-id").values_list("request_id", flat=True).first() or ""


def send_next(attempt: GradingAttempt) -> None:
    """On commit, send whatever may go of the attempt's learner, or of regrades.

    Also to be called where an attempt ends, which may have held back the next one.
    """
    transaction.on_commit(lambda: _send_like(attempt), robust=True)


def _send_like(attempt: GradingAttempt) -> None:
    if attempt.priority == PRIORITY_LEARNER:
        learner = attempt.submission.user_id
        alike = Q(attempt__priority=PRIORITY_LEARNER, attempt__submission__user=learner)
        most = limits.jobs_on_queue_per_learner()
    else:
        alike = Q(attempt__priority__gt=PRIORITY_LEARNER)
        most = limits.regrades_on_queue()
    waiting = _sendable().filter(alike, attempt__queue=attempt.queue).order_by("id")
    for message_id in list(waiting.values_list("id", flat=True)[:most]):
        if not try_send(message_id):
            break


def try_send(message_id: int) -> bool:
    """Send one message now if nobody else does. Return whether the broker has it.

    Raises nothing when the broker is down: the message stays in the outbox.
    """
    try:
        return _send(message_id)
    except BrokerUnreachable as error:
        logger.warning("The queue is not reachable, message %s is kept: %s", message_id, error)
        return False


def send_outbox() -> int:
    """Send the messages in the outbox that may go, learners' before regrades, oldest first.

    Return how many the broker accepted. Stops at the first failure: with the broker down, the rest
    would only wait for timeouts.
    """
    sent = 0
    waiting = _sendable().order_by("attempt__priority", "id").values_list("id", flat=True)
    for message_id in list(waiting[: limits.outbox_batch_size()]):
        try:
            sent += _send(message_id)
        except BrokerUnreachable as error:
            logger.warning("The queue is not reachable, the outbox waits: %s", error)
            break
    return sent


def _sendable() -> QuerySet[OutboxMessage]:
    """Return the messages that nobody is sending and whose time has come."""
    now = timezone.now()
    return OutboxMessage.objects.alias(
        of_learner=_count(
            priority=PRIORITY_LEARNER, submission__user=OuterRef("attempt__submission__user")
        ),
        of_regrades=_count(priority__gt=PRIORITY_LEARNER),
    ).filter(
        Q(attempt__priority=PRIORITY_LEARNER, of_learner__lt=limits.jobs_on_queue_per_learner())
        | Q(attempt__priority__gt=PRIORITY_LEARNER, of_regrades__lt=limits.regrades_on_queue()),
        Q(locked_until__isnull=True) | Q(locked_until__lt=now),
        sent_at__isnull=True,
        attempt__state=AttemptState.QUEUED,
    )


def _count(**of: Any) -> Coalesce:
    """Count the attempts on the message's queue that the broker or a worker has."""
    there = Q(outbox__sent_at__isnull=False) | Q(outbox__locked_until__gt=timezone.now())
    alike = (
        GradingAttempt.objects.filter(
            there, queue=OuterRef("attempt__queue"), state__in=AttemptState.open(), **of
        )
        .order_by()
        .values("queue")
        .annotate(attempts=Count("id"))
    )
    return Coalesce(Subquery(alike.values("attempts")), 0)


def _send(message_id: int) -> bool:
    if not _lock(message_id):
        return False
    message = OutboxMessage.objects.select_related("attempt__submission__exercise").get(
        pk=message_id
    )
    attempt = message.attempt
    with logs.about(submission=attempt.submission.public_id, request_id=message.request_id):
        return _send_of(message)


def _send_of(message: OutboxMessage) -> bool:
    attempt = message.attempt
    mine = OutboxMessage.objects.filter(pk=message.pk, sent_at__isnull=True)
    try:
        transport().send(
            TASK_GRADE, [build_job(attempt).to_message()], attempt.queue, attempt.priority
        )
    except BrokerUnreachable as error:
        mine.update(locked_until=None, failures=F("failures") + 1, last_error=str(error)[:500])
        raise
    mine.update(locked_until=None, sent_at=timezone.now(), sends=F("sends") + 1, last_error="")
    logger.info("Submission %s: on the queue %s", attempt.submission.public_id, attempt.queue)
    return True


def _lock(message_id: int) -> bool:
    """Keep others from sending the message for a while, if it may be sent."""
    with transaction.atomic():
        # Wait for the lock here: the condition involves other rows too, and PostgreSQL would not
        # evaluate it again after waiting in the update itself.
        list(OutboxMessage.objects.select_for_update().filter(pk=message_id).values_list("pk"))
        return bool(
            _sendable().filter(pk=message_id).update(locked_until=timezone.now() + SENDING_LOCK)
        )


def build_job(attempt: GradingAttempt) -> protocol.GradeJob:
    """Return the message of one attempt: everything a worker needs, and nothing of the learner."""
    submission = attempt.submission
    return protocol.GradeJob(
        submission=submission.public_id,
        lease=attempt.lease,
        kind=protocol.NodeKind(attempt.kind),
        attempt=attempt.try_number,
        exercise=submission.exercise.slug,
        track=protocol.Track(submission.track),
        source=submission.source,
    )
