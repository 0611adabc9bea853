"""The worker's tasks: parse the job, do it, answer. A grading is never left unanswered."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task

from gpu_worker import logs
from gpu_worker.gpu.lane import Lane, ReturnedError
from gpu_worker.judge import Graded, Options, grade_source
from gpu_worker.messages.checks import CheckJob
from gpu_worker.messages.protocol import (
    Failure,
    GradeJob,
    NodeKind,
    Outcome,
    ProtocolError,
    Report,
    Verdict,
)
from gpu_worker.messages.queues import QUEUE_CPU, TASK_CHECK, TASK_GRADE, TASK_RUN
from gpu_worker.messages.runs import RunJob
from gpu_worker.sandbox.client import SandboxError, Zygote
from gpu_worker.worker import exercise_checks, reporter, running
from gpu_worker.worker import offers as devices
from gpu_worker.worker.node import node_name

logger = logging.getLogger(__name__)

zygote = Zygote()
"""This process's zygote; see `gpu_worker.celery_app` for when it starts."""
lane = Lane()
"""This process's lane to the devices of its machine; takes none before a job needs one."""


@shared_task(name=TASK_GRADE, bind=True)
def grade(self: Any, message: Any) -> None:
    """Grade one `GradeJob` and put its verdict on the queue `results`.

    A job that comes back from a dead worker is not graded: it may be what killed it, or be done.
    The site, which knows, starts another attempt or none.
    """
    try:
        job = GradeJob.from_message(message)
    except ProtocolError as error:
        _answer_unreadable(self.app, message, error)
        return
    with logs.about(submission=job.submission):
        _grade(self, job)


def _grade(self: Any, job: GradeJob) -> None:
    if _came_back(self):
        logger.warning("Submission %s came back from a worker that died.", job.submission)
        reporter.send_redelivery(self.app, job)
        return
    try:
        with reporter.JobReporter(self.app, job) as progress:
            graded = _grade_or_explain(job, progress, self.app)
    except ReturnedError as error:
        logger.warning("Submission %s goes back: %s", job.submission, error)
        reporter.send_returned(self.app, job, str(error))
        return
    logger.info("Submission %s: %s, %.3f", job.submission, graded.outcome.value, graded.score)
    reporter.send_verdict(self.app, as_verdict(job, graded))


@shared_task(name=TASK_RUN, bind=True)
def run(self: Any, message: Any) -> None:
    """Run one `RunJob` and put what came of it on the queue `results`."""
    try:
        job = RunJob.from_message(message)
    except ProtocolError as error:
        # The site gives up a run that is not answered, and says so.
        logger.error("A message on the queue is no run: %s", error)
        return
    if _came_back(self):
        # It may have killed the worker. The site ends attempts that are not answered.
        logger.warning("Run %s came back from a worker that died.", job.run)
        return
    with logs.about(run=job.run):
        running.answer(self.app, job, zygote)


@shared_task(name=TASK_CHECK, bind=True)
def check(self: Any, message: Any) -> None:
    """Take steps of one `CheckJob` and put what they showed on the queue `results`."""
    try:
        job = CheckJob.from_message(message)
    except ProtocolError as error:
        # The site asks again if there is no answer, and gives the check up in the end.
        logger.error("A message on the queue is no check: %s", error)
        return
    if _came_back(self):
        logger.warning("Check %s came back from a worker that died.", job.check)
        exercise_checks.came_back(self.app, job)
        return
    exercise_checks.answer(self.app, job, zygote)


def _came_back(task: Any) -> bool:
    """Return whether the queue hands the task's message out for the second time."""
    return bool((task.request.delivery_info or {}).get("redelivered"))


def _grade_or_explain(job: GradeJob, progress: reporter.JobReporter, app: Any) -> Graded:
    """Grade, once more if the sandbox failed; any failure of ours becomes `not_gradable`.

    What is final before a mistake's name is looked for goes to the site at once.

    Raises:
        ReturnedError: the job is for a device, and there is none for it here.
    """

    def offer(graded: Graded) -> None:
        reporter.offer_verdict(app, as_verdict(job, graded))

    for last_try in (False, True):
        try:
            if job.kind is NodeKind.DEVICE:
                return lane.grade(job, node_name(), progress.update, offer)
            if job.track not in devices.gradable_tracks(QUEUE_CPU):
                raise LookupError(f"It does not grade the track {job.track}.")
            return grade_source(
                job.exercise,
                job.track,
                job.source,
                Options(
                    cases=job.cases,
                    node=node_name(),
                    on_progress=progress.update,
                    on_verdict=offer,
                ),
                zygote=zygote,
            )
        except ReturnedError:
            raise
        except SandboxError as error:
            logger.warning("Submission %s: the sandbox failed: %s", job.submission, error)
            if last_try:
                return not_gradable(f"The worker could not run your program. {error}")
        except LookupError as error:
            return not_gradable(f"This worker cannot grade the submission. {error.args[0]}")
        except Exception:
            # Whatever went wrong, it is our fault: the learner must be told, and not wait for ever.
            logger.exception("Submission %s: grading failed.", job.submission)
            return not_gradable("Grading failed through an error of the platform.")
    raise AssertionError("unreachable: the last try returns")


def not_gradable(message: str) -> Graded:
    """Return the answer for a failure that is not the learner's."""
    text = f"{message} This is not your program's fault and costs no attempt. Send it again."
    return Graded(Outcome.NOT_GRADABLE, 0.0, Report(failure=Failure(message=text[:4_000])))


def as_verdict(job: GradeJob, graded: Graded) -> Verdict:
    """Return the message for a finished grading."""
    return _verdict(job.submission, job.lease, graded, job.kind)


def _verdict(submission: str, lease: str, graded: Graded, kind: NodeKind) -> Verdict:
    return Verdict(
        submission=submission,
        lease=lease,
        kind=kind,
        node=node_name(),
        outcome=graded.outcome,
        score=graded.score,
        report=graded.report,
    )


def _answer_unreadable(app: Any, message: Any, error: ProtocolError) -> None:
    """Answer a message that is no job, if it says whom to answer; else only log it."""
    logger.error("A message on the queue is no job: %s", error)
    known = reporter.answerable(message)
    if known is None:
        return
    submission, lease, kind = known
    graded = not_gradable(f"The worker could not read the job ({error}).")
    try:
        verdict = _verdict(submission, lease, graded, kind)
    except ValueError:
        logger.exception("Its submission or lease is not valid either.")
        return
    reporter.send_verdict(app, verdict)
