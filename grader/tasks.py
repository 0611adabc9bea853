"""The site's Celery tasks: parse, call a service, nothing else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from celery import shared_task
from django.db.utils import InterfaceError, OperationalError

from courses.accounts.deletion import remove_kept
from courses.held_forms import forget_held_forms
from gpu_worker import logs
from gpu_worker.messages.checks import CheckUpdate
from gpu_worker.messages.protocol import (
    NodeReport,
    Progress,
    ProtocolError,
    Redelivery,
    Returned,
    Verdict,
)
from gpu_worker.messages.queues import (
    TASK_RECORD_CHECK,
    TASK_RECORD_NODE,
    TASK_RECORD_PROGRESS,
    TASK_RECORD_REDELIVERY,
    TASK_RECORD_RETURN,
    TASK_RECORD_RUN,
    TASK_RECORD_VERDICT,
)
from gpu_worker.messages.runs import RunUpdate
from grader import services
from grader.messages import address_of, clean
from grader.models import RefusalReason
from grader.services.workers import NotBelieved, Told, claim_lease, not_its, opened

logger = logging.getLogger(__name__)

# A database that is restarting must not cost a learner the verdict.
RETRY: Any = {
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 1,
    "retry_backoff_max": 60,
    "retry_jitter": True,
    "max_retries": 20,
}


def worker_task(name: str) -> Callable[[Callable[[Told], None]], Any]:
    """Make a task for messages of workers: its argument is a signed envelope.

    Unsigned messages and unknown protocols end here and in the log.
    """

    def decorate(record: Callable[[Told], None]) -> Any:
        def run(*arguments: object, **named: object) -> None:
            # A worker sends one argument; others may send anything.
            envelope = arguments[0] if len(arguments) == 1 and not named else None
            try:
                told = opened(name, envelope)
                with logs.about(**_subject_of(told.message)):
                    record(told)
            except ProtocolError as error:
                logger.error("A message for %s cannot be used: %s", name, error)
            except NotBelieved as refusal:
                logger.debug("Not believed: it %s", refusal)

        run.__name__, run.__doc__ = record.__name__, record.__doc__
        return shared_task(name=name, **RETRY)(run)

    return decorate


def _subject_of(message: object) -> dict[str, Any]:
    """Return what a message is about, for the log: from its body, whatever its headers say."""
    known = message if isinstance(message, dict) else {}
    return {name: known.get(name) for name in (logs.SUBMISSION, logs.RUN) if name in known}


@worker_task(TASK_RECORD_PROGRESS)
def record_progress(told: Told) -> None:
    progress = Progress.from_message(clean(told.message))
    claim_lease(TASK_RECORD_PROGRESS, told, progress.lease)
    services.record_progress(progress)


@worker_task(TASK_RECORD_VERDICT)
def record_verdict(told: Told) -> None:
    address = address_of(told.message)
    if address:
        claim_lease(TASK_RECORD_VERDICT, told, address[1])
    try:
        verdict = Verdict.from_message(clean(told.message))
    except ProtocolError as error:
        if address:
            services.reject_verdict(*address, reason=str(error))
        raise
    services.record_verdict(verdict)


@worker_task(TASK_RECORD_REDELIVERY)
def record_redelivery(told: Told) -> None:
    # The worker that had the job is dead: another one reports it.
    services.record_redelivery(Redelivery.from_message(clean(told.message)))


@worker_task(TASK_RECORD_RETURN)
def record_return(told: Told) -> None:
    returned = Returned.from_message(clean(told.message))
    claim_lease(TASK_RECORD_RETURN, told, returned.lease)
    services.record_return(returned)


@worker_task(TASK_RECORD_NODE)
def record_node(told: Told) -> None:
    report = NodeReport.from_message(clean(told.message))
    if services.record_node(report, told.worker) is None:
        raise not_its(TASK_RECORD_NODE, told, RefusalReason.NOT_ITS_NODE)


@worker_task(TASK_RECORD_RUN)
def record_run(told: Told) -> None:
    services.record_run(RunUpdate.from_message(clean(told.message)))


@worker_task(TASK_RECORD_CHECK)
def record_check(told: Told) -> None:
    services.record_check(CheckUpdate.from_message(clean(told.message)))


@shared_task(name="grader.send_outbox")
def send_outbox() -> int:
    return services.send_outbox()


@shared_task(name="grader.requeue_lost")
def requeue_lost() -> int:
    swept = services.requeue_lost()
    return swept.lost + swept.resent


@shared_task(name="grader.advance_checks")
def advance_checks() -> int:
    return services.advance_checks()


@shared_task(name="grader.end_runs")
def end_runs() -> int:
    """End unanswered runs, and delete what was kept long enough, including authors' forms."""
    return services.end_late_runs() + services.purge_runs() + forget_held_forms()


@shared_task(name="grader.remove_work_of_deleted_accounts")
def remove_work_of_deleted_accounts() -> int:
    """Delete the work of deleted accounts once its retention has passed."""
    return remove_kept()
