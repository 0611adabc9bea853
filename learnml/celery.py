"""The site's Celery app: the control worker and the scheduler run it; the web only sends."""

from __future__ import annotations

import logging.config
import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

from gpu_worker import logs
from gpu_worker.messages import transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")


def configuration() -> dict[str, Any]:
    """Return the whole configuration, when Celery first needs it rather than at import."""
    from django.conf import settings

    from gpu_worker.messages.queues import celery_settings

    shared = celery_settings(settings.BROKER_URL)
    return {
        **shared,
        # Messages that the site received but did not acknowledge are out of the reach of workers.
        "broker_transport_options": {
            **shared["broker_transport_options"],
            **{f"unacked{part}_key": f"site_unacked{part}" for part in ("", "_index", "_mutex")},
        },
        # Without its broker a task cannot be acknowledged and comes again. The site's own are
        # short, each in one transaction, so that ending one half-way changes nothing.
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        "beat_schedule": beat_schedule(settings.GRADING),
        # In memory: after a restart everything is due within seconds anyway, and a file that a
        # killed scheduler left half written cannot stop the next one.
        "beat_scheduler": "celery.beat:Scheduler",
        "timezone": "UTC",
    }


def beat_schedule(grading: dict[str, Any]) -> dict[str, Any]:
    """Return the periodic tasks; each expires before it could pile up behind a stopped worker."""
    from gpu_worker.messages.queues import QUEUE_CONTROL

    def entry(task: str, seconds: float) -> dict[str, Any]:
        options = {"queue": QUEUE_CONTROL, "expires": max(2 * seconds, 10)}
        return {"task": task, "schedule": seconds, "options": options}

    return {
        "send-outbox": entry("grader.send_outbox", grading["OUTBOX_INTERVAL_SECONDS"]),
        "requeue-lost": entry("grader.requeue_lost", grading["SWEEP_INTERVAL_SECONDS"]),
        "advance-checks": entry("grader.advance_checks", grading["SWEEP_INTERVAL_SECONDS"]),
        "end-runs": entry("grader.end_runs", grading["SWEEP_INTERVAL_SECONDS"]),
        "remove-deleted": entry(
            "grader.remove_work_of_deleted_accounts", grading["DELETED_WORK_INTERVAL_SECONDS"]
        ),
    }


def _configure_logs(**_: Any) -> None:
    """Keep the site's own logging: Celery would add another."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


app = Celery("learnml")
setup_logging.connect(_configure_logs)
logs.follow_messages()
transport.use()
app.add_defaults(configuration)
app.autodiscover_tasks(["grader"])
# Code that only knows `celery.current_app` must send with these settings, from any thread.
app.set_default()
