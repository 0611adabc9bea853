"""The site's Celery tasks: parse, call a service, nothing else."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from django.db.utils import InterfaceError, OperationalError

from gpu_worker.protocol import (
    NodeReport,
    Progress,
    ProtocolError,
    Redelivery,
    Returned,
    Verdict,
)
from gpu_worker.protocol_checks import CheckUpdate
from gpu_worker.protocol_runs import RunUpdate
from gpu_worker.queues import (
    TASK_RECORD_CHECK,
    TASK_RECORD_NODE,
    TASK_RECORD_PROGRESS,
    TASK_RECORD_REDELIVERY,
    TASK_RECORD_RETURN,
    TASK_RECORD_RUN,
    TASK_RECORD_VERDICT,
)
from grader import services
from grader.messages import address_of, clean

logger = logging.getLogger(__name__)

# A database that is restarting must not cost a learner the verdict.
RETRY: Any = {
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 1,
    "retry_backoff_max": 60,
    "retry_jitter": True,
    "max_retries": 20,
}


@shared_task(name=TASK_RECORD_PROGRESS, **RETRY)
def record_progress(message: object) -> None:
    try:
        progress = Progress.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A progress message cannot be used: %s", error)
        return
    services.record_progress(progress)


@shared_task(name=TASK_RECORD_VERDICT, **RETRY)
def record_verdict(message: object) -> None:
    try:
        verdict = Verdict.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A verdict cannot be used: %s", error)
        if address := address_of(message):
            services.reject_verdict(*address, reason=str(error))
        return
    services.record_verdict(verdict)


@shared_task(name=TASK_RECORD_REDELIVERY, **RETRY)
def record_redelivery(message: object) -> None:
    try:
        redelivery = Redelivery.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A message about a job that came back cannot be used: %s", error)
        return
    services.record_redelivery(redelivery)


@shared_task(name=TASK_RECORD_RETURN, **RETRY)
def record_return(message: object) -> None:
    try:
        returned = Returned.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A message about a job that was given back cannot be used: %s", error)
        return
    services.record_return(returned)


@shared_task(name=TASK_RECORD_NODE, **RETRY)
def record_node(message: object) -> None:
    try:
        report = NodeReport.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A node's report cannot be used: %s", error)
        return
    services.record_node(report)


@shared_task(name=TASK_RECORD_RUN, **RETRY)
def record_run(message: object) -> None:
    try:
        update = RunUpdate.from_message(clean(message))
    except ProtocolError as error:
        logger.error("A run's answer cannot be used: %s", error)
        return
    services.record_run(update)


@shared_task(name=TASK_RECORD_CHECK, **RETRY)
def record_check(message: object) -> None:
    try:
        update = CheckUpdate.from_message(clean(message))
    except ProtocolError as error:
        logger.error("An answer about an exercise's check cannot be used: %s", error)
        return
    services.record_check(update)


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
    """End runs that nobody answers, and delete those that were kept long enough."""
    return services.end_late_runs() + services.purge_runs()
