"""Runs steps of the check that an exercise must pass to be published, and reports the results."""

from __future__ import annotations

import logging
import time
from functools import cache
from pathlib import Path
from typing import Final

from celery import Celery

from gpu_worker.exercises import digests, get
from gpu_worker.exercises.stored import HeaderError
from gpu_worker.judge.running.builds import kernels_missing
from gpu_worker.judge.strength import checks as strength
from gpu_worker.messages.checks import MAX_STEPS_AT_ONCE, CheckJob, CheckUpdate
from gpu_worker.messages.queues import TASK_RECORD_CHECK
from gpu_worker.sandbox.client import SandboxError, Zygote
from gpu_worker.worker import reporter
from gpu_worker.worker.node import node_name

logger = logging.getLogger(__name__)

SECONDS_AT_ONCE: Final = 2.0
"""No further step starts after this time: learners' gradings wait behind these steps."""


def answer(app: Celery, job: CheckJob, zygote: Zygote) -> None:
    """Take as many steps as fit, and send what they showed.

    Raises:
        OperationalError: the broker stays away; the message is delivered again.
    """
    reporter.send(app, TASK_RECORD_CHECK, _take_or_explain(job, zygote), retry=True)


def came_back(app: Celery, job: CheckJob) -> None:
    """Say that the job was handed out a second time and was not begun again.

    Raises:
        OperationalError: the broker stays away.
    """
    update = _update(job).model_copy(update={"came_back": True})
    reporter.send(app, TASK_RECORD_CHECK, update, retry=True)


def take(job: CheckJob, zygote: Zygote) -> CheckUpdate:
    """Take the steps from `job.first` on, one at least if there is one.

    None is taken where the job is about another exercise or engine than what this process has.

    Raises:
        HeaderError: a stored submission does not say what to expect.
        LookupError: there is no such exercise.
        SandboxError: the sandbox failed.
    """
    exercise = get(job.exercise)
    here = _digest(exercise.folder)
    if here != job.digest:
        return _update(job).model_copy(update={"digest": here, "next": job.first})
    steps = strength.publishing_steps(exercise)
    until = time.monotonic() + SECONDS_AT_ONCE
    complaints: list[str] = []
    survived = left_out = ""
    graded, place = 0, job.first
    for step in steps[job.first : job.first + MAX_STEPS_AT_ONCE]:
        if step.item.has_kernels and (missing := kernels_missing()):
            left_out = missing
        else:
            complaint, missed = strength.look_at(exercise, step, zygote)
            complaints += [complaint[:4_000]] if complaint else []
            survived = survived or missed[:4_000]
            graded += 1
        place += 1
        if time.monotonic() > until:
            break
    return _update(job).model_copy(
        update={
            "digest": here,
            "next": place,
            "steps": len(steps),
            "stored": sum(step.mutant is None for step in steps),
            "graded": graded,
            "complaints": complaints,
            "survived": survived,
            "left_out": left_out,
        }
    )


def remember_what_is_loaded() -> None:
    """Note what the engine and the exercises are while this process begins.

    It imports them once: files that change later do not change what it judges by.
    """
    for folder in digests.folders():
        _loaded(folder)


@cache
def _loaded(folder: Path) -> tuple[str, str]:
    return digests.engine_digest(), digests.code_digest(folder)


def _digest(folder: Path) -> str:
    """Return the digest of what this process judges by, and of the programs as they are now."""
    return digests.joined(*_loaded(folder), digests.programs_digest(folder))


def _take_or_explain(job: CheckJob, zygote: Zygote) -> CheckUpdate:
    """Take the steps, once more if the sandbox failed; any failure is said to the site."""
    for last_try in (False, True):
        try:
            return take(job, zygote)
        except SandboxError as error:
            logger.warning("Check %s: the sandbox failed: %s", job.check, error)
            if last_try:
                return _failed(job, f"The stored submissions could not be run: {error}")
        except HeaderError as error:
            return _failed(job, f"A stored submission cannot be used: {error}")
        except LookupError as error:
            return _failed(job, f"The worker has another release than the site: {error.args[0]}")
        except Exception as error:
            # Whatever went wrong, the author must be told, and not wait for ever.
            logger.exception("Check %s failed.", job.check)
            return _failed(job, f"The check failed by itself ({type(error).__name__}).")
    raise AssertionError("unreachable: the last try returns")


def _failed(job: CheckJob, reason: str) -> CheckUpdate:
    return _update(job).model_copy(update={"failure": reason[:4_000]})


def _update(job: CheckJob) -> CheckUpdate:
    return CheckUpdate(check=job.check, lease=job.lease, node=node_name(), first=job.first)
