"""The site's Celery app: the control worker and the scheduler run it; the web only sends."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "learnml.settings.local")

app = Celery("learnml")


@app.on_configure.connect
def _configure(sender: Celery, **kwargs: object) -> None:
    """Read Django's settings when Celery is first used, never at import time."""


def configure() -> None:
    from django.conf import settings

    from gpu_worker.queues import QUEUE_CONTROL, celery_settings

    app.conf.update(celery_settings(settings.BROKER_URL))
    app.conf.beat_schedule = {
        "send-outbox": {
            "task": "grader.send_outbox",
            "schedule": settings.GRADING["OUTBOX_INTERVAL_SECONDS"],
            "options": {"queue": QUEUE_CONTROL, "expires": 60},
        },
        "requeue-lost": {
            "task": "grader.requeue_lost",
            "schedule": settings.GRADING["SWEEP_INTERVAL_SECONDS"],
            "options": {"queue": QUEUE_CONTROL, "expires": 60},
        },
    }
    app.autodiscover_tasks(["grader"])
