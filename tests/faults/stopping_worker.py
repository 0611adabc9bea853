"""The grading worker, which stops itself dead at one step of grading one submission.

STOP="after the claim" STOP_FOR=<submission> celery -A tests.faults.stopping_worker worker -Q cpu

The worker's own code runs unchanged; Celery's signals say where it is. A source that holds DEADLY
kills the process that grades it, each time, as a fault of the machine or of the sandbox might.
"""

from __future__ import annotations

import os
import signal
from typing import Any

from celery.signals import after_task_publish, before_task_publish, task_prerun

from gpu_worker.celery_app import app
from gpu_worker.messages.queues import TASK_GRADE, TASK_RECORD_PROGRESS, TASK_RECORD_VERDICT
from tests.faults.platform import DEADLY

__all__ = ["app"]

STEP, SUBMISSION = os.environ["STOP"], os.environ["STOP_FOR"]
job: dict[str, Any] = {}


def at(step: str) -> None:
    if step == STEP and job.get("submission") == SUBMISSION:
        os.kill(os.getpid(), signal.SIGSTOP)


@task_prerun.connect
def _has_the_job(task: Any, args: list[Any], **_: Any) -> None:
    if task.name == TASK_GRADE:
        job.update(args[0])
        at("before the claim")


@before_task_publish.connect
def _is_about_to_say(sender: str, **_: Any) -> None:
    if sender == TASK_RECORD_VERDICT:
        at("before the verdict")


@after_task_publish.connect
def _has_said(sender: str, **_: Any) -> None:
    if sender == TASK_RECORD_PROGRESS:
        at("after the claim")
        if DEADLY in job["source"]:
            os.kill(os.getpid(), signal.SIGKILL)
    if sender == TASK_RECORD_VERDICT:
        at("after the verdict")
