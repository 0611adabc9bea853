"""Runs what a learner wants to try: a program for its output, or an exercise's public cases.

The walls and limits are those of a grading. Nothing hidden is involved: a run knows only the public
cases, and shows only what the learner's own program did.
"""

from __future__ import annotations

import logging
import re
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Final

from celery import Celery
from kombu.exceptions import OperationalError

from gpu_worker.exercises import Exercise, get
from gpu_worker.exercises.spec import CODE_LIMITS, PublicCase
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.kernels.track import adjusted, findings_of
from gpu_worker.judge.report import reporting
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.running.execution import (
    Stop,
    crash_stop,
    execute,
    judge_run,
    memory_texts,
    problem_stop,
    run_request,
    starved_text,
    timeout_text,
)
from gpu_worker.judge.verdict.transcript import COMPILE_ERROR, Raised, Refused, read_transcript
from gpu_worker.messages.protocol import (
    MAX_OUTPUT_CHARACTERS,
    Failure,
    Finding,
    Outcome,
    PastedFinding,
    Timing,
    Track,
)
from gpu_worker.messages.queues import TASK_RECORD_RUN
from gpu_worker.messages.runs import RunCase, RunJob, RunKind, RunOutcome, RunReport, RunUpdate
from gpu_worker.pasted import NOT_PYTHON
from gpu_worker.sandbox.client import OUTPUT_DRAIN_BYTES, RunResult, SandboxError, Zygote
from gpu_worker.sandbox.inside.wire import Job, Reason, encode_job
from gpu_worker.worker import reporter
from gpu_worker.worker.node import node_name

logger = logging.getLogger(__name__)

Ran = tuple[RunOutcome, RunReport]

_PROGRAM_RESULT_BYTES: Final = 64 << 10
"""A program sends no results: only what it raised, and that it ended."""
_NORMAL_EXITS: Final = frozenset({"", "0", "None"})
_PLACE: Final = re.compile(r" \(submission\.py, line \d+\)$")


def answer(app: Celery, job: RunJob, zygote: Zygote) -> None:
    """Do a run and send what came of it; one that nobody waits for any more is left out.

    Raises:
        OperationalError: the broker stays away, and the message is delivered again.
    """
    if time.time() > job.expires_at:
        logger.warning("Run %s came too late: nobody waits for it.", job.run)
        return
    try:
        reporter.send(app, TASK_RECORD_RUN, _update(job), retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("The start of run %s was not sent: %s", job.run, error)
    outcome, report = _run_or_explain(job, zygote)
    update = _update(job).model_copy(update={"outcome": outcome, "report": report})
    reporter.send(app, TASK_RECORD_RUN, update, retry=True)


def run_job(job: RunJob, zygote: Zygote) -> Ran:
    """Run what the job asks for.

    Raises:
        LookupError: there is no such exercise, or it has no such track here.
        SandboxError: the sandbox failed; the program is not to blame.
    """
    if job.kind is RunKind.CODE:
        return run_program(job.source, zygote)
    exercise = get(job.exercise or "")
    if job.track not in exercise.tracks:
        raise LookupError(f"The track {job.track} of {exercise.slug} cannot be run here.")
    return run_public_cases(exercise, job.source, zygote, job.track)


def run_program(source: str, zygote: Zygote, limits: Mapping[str, float] = CODE_LIMITS) -> Ran:
    """Run a file as a program and return what it printed.

    Raises:
        SandboxError: the sandbox failed.
    """
    started = time.perf_counter()
    job = encode_job(Job(source, "", ()))
    run = run_request(limits, zygote, _PROGRAM_RESULT_BYTES, lambda frame: None, job=job)
    stop = _program_stop(run, limits)
    loading = read_transcript(run.frames, []).loading if stop and not run.forged else None
    outcome, report = _ran(source, stop, run, limits, started)
    return outcome, _with_pasted(report, reporting.pasted_findings(source, loading))


def run_public_cases(
    exercise: Exercise, source: str, zygote: Zygote, track: str = Track.NUMPY
) -> Ran:
    """Run and judge an exercise's public cases on a track, exactly as a grading does.

    Raises:
        SandboxError, JudgeError: the platform failed.
    """
    limits = exercise.limits_for(track)
    zygote.start()
    if track != Track.CUPY:
        return _run_cases(exercise, source, zygote, limits)
    with Builds(zygote.builds, limits) as builds:
        return _run_cases(exercise, source, zygote, limits, builds)


def _run_cases(
    exercise: Exercise,
    source: str,
    zygote: Zygote,
    limits: Mapping[str, float],
    builds: Builds | None = None,
) -> Ran:
    started = time.perf_counter()
    cases = casegen.public_cases(exercise)
    _, run = execute(exercise, source, cases, limits, zygote, builds=builds)
    execution = judge_run(exercise, cases, run, limits)
    stop = execution.stop
    loading = read_transcript(run.frames, cases).loading
    if loading and (stop is None or not execution.judged):
        stop = problem_stop(loading, exercise.class_name, show=True)
    found: list[Finding] = []
    if builds:
        execution.stop = stop
        stop = adjusted(execution, builds)
        found = findings_of(source, builds, run, cases)
    outcome, report = _ran(source, stop, run, limits, started)
    failed = next((item for item in execution.judged if not item.verdict.passed), None)
    report = _with_pasted(report, reporting.pasted_findings(source, loading, failed))
    if stop is None and failed:
        outcome = RunOutcome(failed.verdict.outcome.value)
    lines = source.count("\n") + 1
    judged: list[JudgedCase | None] = [*execution.judged]
    judged += [None] * (len(cases) - len(judged))
    results = [
        _case(exercise, public, item, lines, found)
        for public, item in zip(exercise.public_cases, judged, strict=True)
    ]
    return outcome, report.model_copy(update={"cases": results})


def _with_pasted(report: RunReport, pasted: list[PastedFinding]) -> RunReport:
    failure = reporting.with_pasted(report.failure, pasted) if report.failure else None
    return report.model_copy(update={"pasted": pasted, "failure": failure})


def _run_or_explain(job: RunJob, zygote: Zygote) -> Ran:
    """Run, once more if the sandbox failed; any failure of ours becomes `not_run`."""
    for last_try in (False, True):
        try:
            return run_job(job, zygote)
        except SandboxError as error:
            logger.warning("Run %s: the sandbox failed: %s", job.run, error)
            if last_try:
                return _not_run(f"The worker could not run your program. {error}")
        except LookupError as error:
            return _not_run(f"This worker cannot do the run. {error.args[0]}")
        except Exception:
            # Whatever went wrong, it is our fault: the learner must be told, and not wait for ever.
            logger.exception("Run %s failed.", job.run)
            return _not_run("The run failed through an error of the platform.")
    raise AssertionError("unreachable: the last try returns")


def _not_run(message: str) -> Ran:
    text = f"{message} This is not your program's fault. Run it again."
    return RunOutcome.NOT_RUN, RunReport(failure=Failure(message=text[:4_000]))


def _update(job: RunJob) -> RunUpdate:
    return RunUpdate(run=job.run, lease=job.lease, node=node_name())


def _ran(
    source: str, stop: Stop | None, run: RunResult, limits: Mapping[str, float], started: float
) -> Ran:
    if stop and stop.outcome is Outcome.MEMORY_LIMIT and not stop.limit:
        limit, measured = memory_texts(run, limits)
        stop = Stop(stop.outcome, stop.message, stop.line, stop.traceback, limit, measured)
    total = (time.perf_counter() - started) * 1e3
    report = RunReport(
        failure=reporting.stop_failure(stop, source.count("\n") + 1) if stop else None,
        output=reporting.clean_text(run.output)[:MAX_OUTPUT_CHARACTERS],
        output_dropped_bytes=run.output_total - len(run.output),
        timings=[
            Timing(phase="running", ms=round(run.wall_seconds * 1e3, 3)),
            Timing(phase="in all", ms=round(total, 3)),
        ],
        limits=dict(limits),
    )
    if stop and stop.outcome is Outcome.NOT_GRADABLE:
        return RunOutcome.NOT_RUN, report
    return RunOutcome(stop.outcome.value) if stop else RunOutcome.COMPLETED, report


def _case(
    exercise: Exercise,
    public: PublicCase,
    item: JudgedCase | None,
    lines: int,
    found: Sequence[Finding],
) -> RunCase:
    if item is None:
        return RunCase(id=public.id, title=public.title, passed=None)
    return RunCase(
        id=public.id,
        title=public.title,
        passed=item.verdict.passed,
        failure=None if item.verdict.passed else _case_failure(item, lines, found),
        worst=reporting.worst_case([item], exercise.default_eps),
    )


def _case_failure(item: JudgedCase, lines: int, found: Sequence[Finding]) -> Failure:
    problem = item.verdict.problem
    message, line, trace = item.verdict.message, None, ""
    if isinstance(problem, Raised):
        line = problem.line if 1 <= problem.line <= lines else None
        trace = reporting.clean_text(problem.traceback)
        if problem.message:
            message = f"{message} {problem.message[:300]}"
    if isinstance(problem, Refused) and problem.reason is Reason.KERNEL_FAULT:
        cause = next((each for each in found if each.kind == problem.text), None)
        if cause:
            line = cause.line
            message = f"{message} {cause.message}"
    return Failure(message=reporting.clean_text(message)[:4_000], line=line, traceback=trace)


def _program_stop(run: RunResult, limits: Mapping[str, float]) -> Stop | None:
    """Return why a program did not come to its end; None if it did, also by `sys.exit()`."""
    if run.forged:
        text = "The program wrote to a file descriptor that it did not open, and was stopped."
        return Stop(Outcome.RUNTIME_ERROR, text)
    if run.overflow:
        text = "The program printed more than allowed and was stopped. Print less."
        limit = f"{OUTPUT_DRAIN_BYTES >> 20} MB"
        return Stop(Outcome.OUTPUT_LIMIT, text, limit=limit, measured=f"more than {limit}")
    if run.ending == "starved":
        return Stop(Outcome.NOT_GRADABLE, starved_text(run))
    if run.ending == "timed_out":
        return Stop(
            Outcome.TIME_LIMIT,
            timeout_text(run),
            limit=f"{limits['wall_seconds']:g} s",
            measured=f"{run.own_seconds:.2f} s",
        )
    if run.signal == signal.SIGXCPU:
        return Stop(
            Outcome.TIME_LIMIT,
            "The program used more processor time than allowed and was stopped.",
            limit=f"{limits['cpu_seconds']:g} s of processor time",
            measured=f"{run.cpu_seconds:.2f} s of processor time",
        )
    problem = read_transcript(run.frames, []).loading
    if isinstance(problem, Raised):
        return _raised_stop(problem)
    if run.signal is not None:
        return crash_stop(run, limits)
    if run.exit_code:
        return Stop(Outcome.RUNTIME_ERROR, f"The program ended with exit code {run.exit_code}.")
    return None


def _raised_stop(problem: Raised) -> Stop | None:
    message, line, trace = problem.message[:300], problem.line, problem.traceback
    where = f" in line {line}" if line else ""
    if problem.name == "SystemExit":
        if message in _NORMAL_EXITS:
            return None
        return Stop(
            Outcome.RUNTIME_ERROR, f"The program ended itself{where}, with exit code {message}."
        )
    if problem.name == "ForbiddenImportError":
        return Stop(Outcome.CONTRACT_ERROR, message, line, trace)
    if problem.name == "MemoryError":
        text = f"The program asked for more memory than allowed{where}."
        return Stop(Outcome.MEMORY_LIMIT, text, line, trace)
    if problem.name in NOT_PYTHON:
        what = f"Line {line} is" if line else "The text is"
        reason = _PLACE.sub("", message)
        return Stop(Outcome.RUNTIME_ERROR, f"{what} not valid Python: {reason}.", line, trace)
    said = f": {message}" if message else ""
    what = "A kernel does not compile" if problem.name == COMPILE_ERROR else problem.name
    return Stop(Outcome.RUNTIME_ERROR, f"{what}{where}{said}", line, trace)
