"""The site's control worker, which stops itself dead at one step of recording one verdict.

STOP="while recording" STOP_FOR=<submission> celery -A tests.faults.stopping_control worker ...

The site's own code runs unchanged; Celery's signals and Django's query wrapper say where it is.
"""

from __future__ import annotations

import json
import os
import signal
from typing import Any

from celery.signals import task_postrun, task_prerun

from gpu_worker.messages.queues import TASK_RECORD_VERDICT
from learnml.celery import app

__all__ = ["app"]

STEP, SUBMISSION = os.environ["STOP"], os.environ["STOP_FOR"]


def at(step: str) -> None:
    if step == STEP:
        os.kill(os.getpid(), signal.SIGSTOP)


def is_the_one(task: Any, args: list[Any]) -> bool:
    return (
        task.name == TASK_RECORD_VERDICT and json.loads(args[0]["body"])["submission"] == SUBMISSION
    )


@task_prerun.connect
def _has_the_verdict(task: Any, args: list[Any], **_: Any) -> None:
    from django.db import connection

    if is_the_one(task, args):
        at("before recording")
        connection.execute_wrappers.append(_watch)


@task_postrun.connect
def _has_recorded(task: Any, args: list[Any], **_: Any) -> None:
    if is_the_one(task, args):
        at("after recording")


def _watch(execute: Any, sql: str, *rest: Any) -> Any:
    result = execute(sql, *rest)
    if sql.startswith('UPDATE "grader_submission"'):
        at("while recording")
    return result
