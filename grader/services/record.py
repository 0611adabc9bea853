"""Recording workers' reports, under the attempt's lease.

Every write is `UPDATE ... WHERE lease = theirs AND state is open`: a message that is late,
duplicate, from a worker given up, or for another submission changes nothing and is logged.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from gpu_worker.messages import protocol
from grader.models import (
    AttemptState,
    GradingAttempt,
    Outcome,
    Phase,
    Worker,
    WorkerNode,
)
from grader.queries import NODE_SILENCE

from .dispatch import send_next
from .names import add_names
from .reaper import end_attempt
from .settle import settle
from .verdicts import update_open, verdict_of

logger = logging.getLogger(__name__)

PHASE_ORDER = list(Phase)
# Each start of a worker, and each of its processes, is a node of its own.
NODES_KEPT_FOR: Final = timedelta(days=30)
NODES_PER_WORKER: Final = 100


class Recorded(Enum):
    """The fate of a message."""

    APPLIED = auto()
    STALE = auto()
    REJECTED = auto()


def record_progress(progress: protocol.Progress) -> Recorded:
    """Renew the heartbeat, and record the attempt's progress.

    Messages may overtake each other: an earlier phase or case of the same node only renews the
    heartbeat.
    """
    now = timezone.now()
    with transaction.atomic():
        attempt = _open_attempt(progress.submission, progress.lease)
        if attempt is None or attempt.kind != progress.kind:
            _log_stale("progress", progress.submission, progress.lease, progress.node)
            return Recorded.STALE
        state = _state_for(progress.phase)
        if attempt.state == AttemptState.RUNNING and attempt.node == progress.node:
            state = AttemptState.RUNNING
        renewed = GradingAttempt.objects.filter(pk=attempt.pk, state=attempt.state).update(
            state=state,
            node=progress.node,
            heartbeat_at=now,
            claimed_at=attempt.claimed_at or now,
        )
        if not renewed:
            _log_stale("progress", progress.submission, progress.lease, progress.node)
            return Recorded.STALE
        if attempt.regrade_item_id is None and _is_further(attempt, progress):
            update_open(
                attempt,
                state=state,
                phase=progress.phase,
                case=progress.case,
                cases=progress.cases,
                claimed_at=verdict_of(attempt).claimed_at or now,
            )
    return Recorded.APPLIED


def record_verdict(verdict: protocol.Verdict) -> Recorded:
    """End an attempt, and write the worker's result to its submission or regrade.

    An acceptance that does not show every case passed is rejected, and so is a verdict of another
    kind of node; the submission is then graded again. An attempt that has ended only accepts the
    names of mistakes, see `names`.
    """
    if reason := _contradiction(verdict):
        return reject_verdict(verdict.submission, verdict.lease, reason)
    now = timezone.now()
    outcome = Outcome(verdict.outcome)
    with transaction.atomic():
        attempt = _open_attempt(verdict.submission, verdict.lease)
        if attempt is not None and attempt.kind != verdict.kind:
            reason = f"it is {verdict.kind.value}, and {attempt.kind} was asked for"
            return reject_verdict(verdict.submission, verdict.lease, reason)
        ended = attempt is not None and GradingAttempt.objects.filter(
            pk=attempt.pk, lease=verdict.lease, state__in=AttemptState.open()
        ).update(
            state=AttemptState.FINISHED,
            node=verdict.node,
            outcome=outcome,
            heartbeat_at=now,
            claimed_at=attempt.claimed_at or now,
            finished_at=now,
        )
        if attempt is None and add_names(verdict):
            return Recorded.APPLIED
        if attempt is None or not ended:
            _log_stale("verdict", verdict.submission, verdict.lease, verdict.node)
            return Recorded.STALE
        settle(attempt, outcome, verdict.score, verdict.report, now)
        send_next(attempt)
    logger.info("Submission %s: %s by %s", verdict.submission, outcome.value, verdict.node)
    return Recorded.APPLIED


def reject_verdict(submission_id: str, lease: str, reason: str) -> Recorded:
    """End the attempt after an invalid verdict; the submission gets another one."""
    with transaction.atomic():
        attempt = _open_attempt(submission_id, lease)
        if attempt is None or not end_attempt(attempt, f"unusable verdict: {reason}"):
            _log_stale("unusable verdict", submission_id, lease, "?")
            return Recorded.STALE
    logger.error("Submission %s: the verdict cannot be used: %s", submission_id, reason)
    return Recorded.REJECTED


def record_redelivery(redelivery: protocol.Redelivery) -> Recorded:
    """End the attempt of a job that was redelivered after its worker died.

    It costs a try: a submission that kills its worker would be redelivered forever otherwise.
    """
    with transaction.atomic():
        attempt = _open_attempt(redelivery.submission, redelivery.lease)
        if attempt is None or not end_attempt(attempt, "worker lost"):
            _log_stale("redelivery", redelivery.submission, redelivery.lease, redelivery.node)
            return Recorded.STALE
    return Recorded.APPLIED


def record_return(returned: protocol.Returned) -> Recorded:
    """Queue a job again that its node returned.

    That costs no try and counts nothing against the learner; a job that is returned again and again
    ends.
    """
    with transaction.atomic():
        attempt = _open_attempt(returned.submission, returned.lease)
        if attempt is None or not end_attempt(attempt, returned.reason, returned=True):
            _log_stale("return", returned.submission, returned.lease, returned.node)
            return Recorded.STALE
        GradingAttempt.objects.filter(pk=attempt.pk).update(node=returned.node)
    return Recorded.APPLIED


def record_node(report: protocol.NodeReport, worker: Worker) -> WorkerNode | None:
    """Store a worker's report on its node; None where the node belongs to another worker.

    That holds while the other worker reports and is trusted: a machine may be registered again.
    """
    now = timezone.now()
    node, is_new = WorkerNode.objects.get_or_create(
        name=report.node, defaults={"worker": worker, "last_seen_at": now}
    )
    if is_new:
        _forget_nodes(worker, now)
    elif node.worker is not None and node.worker != worker:
        is_gone = node.worker.revoked_at is not None or node.last_seen_at < now - NODE_SILENCE
        if not is_gone:
            return None
    for name, value in {
        "worker": worker,
        "queue": report.queue,
        "isolation": report.isolation,
        "python": report.python,
        "numpy": report.numpy,
        "platform": report.platform,
        "limits": report.limits,
        "devices": list(report.devices),
        "gpus": [gpu.to_message() for gpu in report.gpus],
        "tracks": [track.value for track in report.tracks],
        "last_seen_at": now,
    }.items():
        setattr(node, name, value)
    node.save()
    return node


def _forget_nodes(worker: Worker, now: datetime) -> None:
    """Delete nodes that fell silent, and those of one worker beyond a plausible number."""
    WorkerNode.objects.filter(last_seen_at__lt=now - NODES_KEPT_FOR).delete()
    kept = WorkerNode.objects.filter(worker=worker).order_by("-last_seen_at")[:NODES_PER_WORKER]
    WorkerNode.objects.filter(worker=worker).exclude(
        pk__in=list(kept.values_list("pk", flat=True))
    ).delete()


def _open_attempt(submission_id: str, lease: str) -> GradingAttempt | None:
    """Return the attempt if the lease holds, with its row locked where the database can."""
    return (
        GradingAttempt.objects.select_for_update(of=("self",))
        .select_related("submission__exercise")
        .filter(
            lease=lease,
            submission__public_id=submission_id,
            state__in=AttemptState.open(),
        )
        .first()
    )


def _contradiction(verdict: protocol.Verdict) -> str:
    """Fail closed: an acceptance needs N of N cases, run and matched."""
    if verdict.outcome is not protocol.Outcome.ACCEPTED:
        return ""
    groups = verdict.report.groups
    if not groups or sum(group.cases for group in groups) == 0:
        return "accepted without a single case"
    for group in groups:
        if group.passed is not True or group.cases_passed != group.cases:
            return f"accepted although group {group.id} is not passed"
    return "accepted with a failure" if verdict.report.failure else ""


def _state_for(phase: protocol.Phase) -> AttemptState:
    return AttemptState.CLAIMED if phase is protocol.Phase.CLAIMED else AttemptState.RUNNING


def _is_further(attempt: GradingAttempt, progress: protocol.Progress) -> bool:
    shown = verdict_of(attempt)
    if attempt.node != progress.node or not shown.phase:
        return True
    before = (PHASE_ORDER.index(Phase(shown.phase)), shown.case)
    return (PHASE_ORDER.index(Phase(progress.phase)), progress.case) > before


def _log_stale(kind: str, submission: Any, lease: Any, node: str) -> None:
    logger.warning(
        "A %s for submission %s from %s changes nothing: its lease %s... is not open.",
        kind,
        submission,
        node,
        str(lease)[:6],
    )
