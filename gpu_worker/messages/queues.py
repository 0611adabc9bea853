"""Names of queues and tasks, and the Celery settings that site and workers share.

The site and the workers meet only in these names and in `gpu_worker.messages.protocol`.
"""

from __future__ import annotations

import os
from typing import Any, Final
from urllib.parse import urlsplit

QUEUE_CPU: Final = "cpu"
QUEUE_GPU: Final = "gpu"
QUEUE_RESULTS: Final = "results"
QUEUE_CONTROL: Final = "control"

TASK_GRADE: Final = "gpu_worker.grade"
TASK_RUN: Final = "gpu_worker.run"
TASK_CHECK: Final = "gpu_worker.check"
TASK_RECORD_PROGRESS: Final = "grader.record_progress"
TASK_RECORD_VERDICT: Final = "grader.record_verdict"
TASK_RECORD_REDELIVERY: Final = "grader.record_redelivery"
TASK_RECORD_RETURN: Final = "grader.record_return"
TASK_RECORD_NODE: Final = "grader.record_node"
TASK_RECORD_RUN: Final = "grader.record_run"
TASK_RECORD_CHECK: Final = "grader.record_check"

# Redis transports serve the lowest number first.
PRIORITY_LEARNER: Final = 0
PRIORITY_REGRADE: Final = 6


_TIME_LIMIT_SECONDS: Final = {QUEUE_CPU: 60.0, QUEUE_GPU: 110.0}
"""A device is probed before and after a grading, and timed."""


def hard_time_limit_seconds(queue: str = QUEUE_CPU) -> float:
    """Return after how long a task's process is killed, from `LEARNML_TASK_TIME_LIMIT_SECONDS`.

    Without that setting it depends on the queue that a worker takes its jobs from.
    """
    given = os.environ.get("LEARNML_TASK_TIME_LIMIT_SECONDS")
    return float(given or _TIME_LIMIT_SECONDS.get(queue, _TIME_LIMIT_SECONDS[QUEUE_CPU]))


def visibility_timeout_seconds() -> float:
    """Return after how long a dead worker's message is handed out again.

    From `LEARNML_VISIBILITY_TIMEOUT_SECONDS`; the same on the site and on all workers. It must
    exceed the hard time limit, or a slow task is delivered a second time while it still runs.
    """
    return float(os.environ.get("LEARNML_VISIBILITY_TIMEOUT_SECONDS") or 120)


def broker_url_from_environment(environ: dict[str, str] | None = None) -> str:
    """Return the broker's URL from `REDIS_URL`, or from the embedded queue's socket.

    Raises:
        LookupError: neither `REDIS_URL` nor `LEARNML_QUEUE_SOCKET` is set.
    """
    environment = os.environ if environ is None else environ
    if url := environment.get("REDIS_URL"):
        return url
    if socket_path := environment.get("LEARNML_QUEUE_SOCKET"):
        return f"redis+socket://{socket_path}?virtual_host=0"
    raise LookupError(
        "No queue is configured. Set REDIS_URL to a Redis or Valkey server, for example "
        "redis://localhost:6379/0, or start everything with ./run."
    )


def with_certificates(broker_url: str) -> str:
    """Return a broker's URL that asks for a certificate that fits, if it is one for TLS.

    Kombu checks none unless the address says so, where redis-py does.
    """
    if urlsplit(broker_url).scheme != "rediss" or "ssl_cert_reqs=" in broker_url:
        return broker_url
    return f"{broker_url}{'&' if '?' in broker_url else '?'}ssl_cert_reqs=required"


def celery_settings(broker_url: str) -> dict[str, Any]:
    """Celery settings under which a killed worker loses no task.

    A task is acknowledged after it ran, one is fetched at a time, and messages that a dead
    worker held go back to the queue soon after `visibility_timeout`. The submission's row,
    not the broker, is the truth: see `grader.services`.
    """
    return {
        "broker_url": with_certificates(broker_url),
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        # A grading goes on when the broker is lost: it needs no broker until it has a verdict, and
        # sending that is retried for a while. If cancelled, it would only be redelivered after the
        # visibility timeout. Its message is redelivered anyway, since the acknowledgement is lost;
        # the second verdict finds its lease finished and changes nothing.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "task_time_limit": hard_time_limit_seconds(),
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_default_queue": QUEUE_CONTROL,
        "broker_connection_retry_on_startup": True,
        "broker_transport_options": {
            "visibility_timeout": visibility_timeout_seconds(),
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "queue_order_strategy": "priority",
            "priority_steps": list(range(10)),
            "socket_connect_timeout": 2,
            "socket_timeout": 10,
        },
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "enable_utc": True,
    }
