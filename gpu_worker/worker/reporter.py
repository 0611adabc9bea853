"""What a worker tells the site: progress with heartbeats, verdicts, and the node itself."""

from __future__ import annotations

import logging
import os
import threading
import time
from types import TracebackType
from typing import Any, Final, Self

from celery import Celery
from kombu.exceptions import OperationalError

from gpu_worker import logs
from gpu_worker.messages.protocol import (
    GradeJob,
    Message,
    NodeKind,
    Phase,
    Progress,
    Redelivery,
    Returned,
    Verdict,
)
from gpu_worker.messages.queues import (
    QUEUE_RESULTS,
    TASK_RECORD_NODE,
    TASK_RECORD_PROGRESS,
    TASK_RECORD_REDELIVERY,
    TASK_RECORD_RETURN,
    TASK_RECORD_VERDICT,
)
from gpu_worker.messages.signing import key_from_environment, signed
from gpu_worker.worker.node import node_name, node_report

MIN_SECONDS_BETWEEN_CASES: Final = 0.5
"""Cases run in milliseconds; a message for each would only fill the queue."""
_SEND_POLICY: Final = {
    "max_retries": 8,
    "interval_start": 0.2,
    "interval_step": 0.5,
    "interval_max": 3.0,
}

logger = logging.getLogger(__name__)


def heartbeat_seconds() -> float:
    """Return the time between two signs of life while grading."""
    return float(os.environ.get("LEARNML_HEARTBEAT_SECONDS", "5"))


def node_report_seconds() -> float:
    """Return the time between two reports of the node."""
    return float(os.environ.get("LEARNML_NODE_REPORT_SECONDS", "30"))


def send(app: Celery, task: str, message: Message, *, retry: bool) -> None:
    """Put a message on the queue `results`, signed with this worker's key.

    Raises:
        OperationalError: the broker cannot be reached.
        KeyMissing: this worker has no key; it should not have started.
    """
    app.send_task(
        task,
        args=[signed(message, task, key_from_environment()).to_message()],
        queue=QUEUE_RESULTS,
        retry=retry,
        retry_policy=_SEND_POLICY,
    )


class JobReporter:
    """Reports one job's progress, and shows signs of life from a thread, until it is left."""

    def __init__(self, app: Celery, job: GradeJob) -> None:
        self._app = app
        self._job = job
        self._lock = threading.Lock()
        self._latest = self._progress(Phase.CLAIMED, 0, 0)
        self._sent_at = 0.0
        self._stop = threading.Event()
        beat = logs.in_this_context(self._beat)
        self._thread = threading.Thread(target=beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._send_latest()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def update(self, phase: Phase, case: int, cases: int) -> None:
        """Report a new phase at once, and another case of the same phase now and then."""
        with self._lock:
            before, self._latest = self._latest, self._progress(phase, case, cases)
        if phase != before.phase or time.monotonic() - self._sent_at > MIN_SECONDS_BETWEEN_CASES:
            self._send_latest()

    def _progress(self, phase: Phase, case: int, cases: int) -> Progress:
        return Progress(
            submission=self._job.submission,
            lease=self._job.lease,
            kind=self._job.kind,
            node=node_name(),
            phase=phase,
            case=case,
            cases=cases,
        )

    def _send_latest(self) -> None:
        with self._lock:
            # Read under the lock: a heartbeat that waited for it must not report an earlier phase.
            self._sent_at = time.monotonic()
            try:
                send(self._app, TASK_RECORD_PROGRESS, self._latest, retry=False)
            except (OperationalError, OSError) as error:
                # Unlike the verdict this does not matter: the next heartbeat may get through.
                logger.warning("Progress of %s was not sent: %s", self._job.submission, error)

    def _beat(self) -> None:
        interval = heartbeat_seconds()
        while not self._stop.wait(interval):
            self._send_latest()


class NodeReporter(threading.Thread):
    """Reports the node at once and regularly after, as long as the worker lives."""

    def __init__(self, app: Celery, queue: str) -> None:
        super().__init__(name="node-report", daemon=True)
        self._app = app
        self._queue = queue

    def run(self) -> None:
        while True:
            try:
                send(self._app, TASK_RECORD_NODE, node_report(self._queue), retry=False)
            except (OperationalError, OSError) as error:
                logger.warning("The node's report was not sent: %s", error)
            except Exception:
                # A worker that still grades must not look dead because one report was lost.
                logger.exception("The node's report could not be made.")
            time.sleep(node_report_seconds())


def send_verdict(app: Celery, verdict: Verdict) -> None:
    """Send the verdict, and try for a while if the broker is away.

    Raises:
        OperationalError: it stays away; the task fails and its message is delivered again.
    """
    send(app, TASK_RECORD_VERDICT, verdict, retry=True)


def offer_verdict(app: Celery, verdict: Verdict) -> None:
    """Send a verdict whose report is still `naming`, once: the one that follows has all of it."""
    try:
        send(app, TASK_RECORD_VERDICT, verdict, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("The verdict of %s was not sent early: %s", verdict.submission, error)


def send_redelivery(app: Celery, job: GradeJob) -> None:
    """Tell the site that a job came back, and try for a while if the broker is away.

    Raises:
        OperationalError: it stays away.
    """
    message = Redelivery(
        submission=job.submission, lease=job.lease, kind=job.kind, node=node_name()
    )
    send(app, TASK_RECORD_REDELIVERY, message, retry=True)


def send_returned(app: Celery, job: GradeJob, reason: str) -> None:
    """Give a job back, and try for a while if the broker is away; people read the reason.

    Raises:
        OperationalError: it stays away; the task fails and its message is delivered again.
    """
    message = Returned(
        submission=job.submission,
        lease=job.lease,
        kind=job.kind,
        node=node_name(),
        reason=reason[:4_000],
    )
    send(app, TASK_RECORD_RETURN, message, retry=True)


def answerable(message: Any) -> tuple[str, str, NodeKind] | None:
    """Return submission, lease and kind of a message that is no job, if it at least has those.

    It is of the first kind if it names none, or none that there is.
    """
    if not isinstance(message, dict):
        return None
    submission, lease = message.get("submission"), message.get("lease")
    if isinstance(submission, str) and isinstance(lease, str):
        is_device = message.get("kind") == NodeKind.DEVICE
        return submission, lease, NodeKind.DEVICE if is_device else NodeKind.FUNCTIONAL
    return None
