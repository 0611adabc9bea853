"""Grades one source, in stages: `_grade` calls them in their order, in which they also stand below.

A stage is a function of what was asked (`_Task`), where it is done (`_Machine`) and what the stages
before it recorded (`_Record`).
"""

from __future__ import annotations

import hashlib
import logging
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from gpu_worker.exercises import Exercise, get
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.cases.case import Case
from gpu_worker.judge.diagnosis.search import JudgedCase, diagnose, names_sign
from gpu_worker.judge.diagnosis.search_time import SEARCH_SECONDS, SearchTime
from gpu_worker.judge.kernels import track as kernel_track
from gpu_worker.judge.kernels.budgets import Spent, budget_results, over_budget, spent
from gpu_worker.judge.kernels.counting import count
from gpu_worker.judge.kernels.findings import merged
from gpu_worker.judge.kernels.large_grid import refused_launch, spreads_rows
from gpu_worker.judge.kernels.track import EXECUTION, adjusted, findings_of, with_reason
from gpu_worker.judge.report import reporting
from gpu_worker.judge.report.public_results import public_results
from gpu_worker.judge.report.receipts import receipt
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.running.device_track import DeviceTrack
from gpu_worker.judge.running.execution import (
    FLAGGED_STOP,
    Execution,
    Stop,
    execute,
    judge_run,
    memory_texts,
    problem_stop,
)
from gpu_worker.judge.running.speed import measure_speed
from gpu_worker.judge.verdict.compare import NOT_REPEATED, Sign
from gpu_worker.judge.verdict.refusals import source_breach
from gpu_worker.messages.protocol import (
    MAX_OUTPUT_CHARACTERS,
    Counted,
    Failure,
    Finding,
    GroupResult,
    Mistake,
    Outcome,
    Phase,
    Receipt,
    Report,
    Speed,
    Timing,
    Track,
)
from gpu_worker.sandbox.client import PATIENCE_SECONDS, Zygote

OnProgress = Callable[[Phase, int, int], None]
"""Called with the phase, the number of the running case (from 1) and the number of cases."""
OnVerdict = Callable[["Graded"], None]
"""Called before a mistake's name is looked for: outcome, score and findings are final then, and the
report says that it is `naming`."""

logger = logging.getLogger(__name__)

_LEAST_PATIENCE_SECONDS: Final = 5.0
_ENDING_OUTCOMES: Final = frozenset({Outcome.FLAGGED, Outcome.NOT_GRADABLE})


@dataclass(frozen=True, slots=True)
class Graded:
    """How a grading ended, the score in 0..1, and the report."""

    outcome: Outcome
    score: float
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a grading is done; the defaults are those of a learner's submission.

    `seed` repeats an earlier grading's cases; without it the operating system gives one. `limits`
    replaces some of the exercise's limits. `node` is named in the receipt. `timed` False leaves out
    the timing of a submission that passed, `named` False the search for known mistakes, which has
    `search_seconds` of processor time. `on_verdict` is called before that search, if there is one.
    """

    cases: Literal["public", "all"] = "all"
    seed: int | None = None
    limits: Mapping[str, float] | None = None
    node: str = ""
    timed: bool = True
    named: bool = True
    search_seconds: float = SEARCH_SECONDS
    on_progress: OnProgress | None = None
    on_verdict: OnVerdict | None = None


def grade_source(
    slug: str,
    track: str,
    source: str,
    options: Options = Options(),
    *,
    zygote: Zygote | None = None,
    device: DeviceTrack | None = None,
) -> Graded:
    """Grade a source for an exercise and a track.

    Without `zygote` one is started for this call. With `device` the program runs on one, and
    `zygote` is for it.

    Raises:
        UnknownExerciseError: there is no such exercise.
        LookupError: it has no such track here.
        SandboxError, JudgeError: the platform failed; the submission is not to blame.
    """
    exercise = get(slug)
    if track not in exercise.tracks:
        raise LookupError(f"The track {track} of {slug} cannot be graded by this worker.")
    task = _Task(
        exercise=exercise,
        track=Track(track),
        source=source,
        limits={**exercise.limits_for(track), **(options.limits or {})},
        seed=casegen.new_seed() if options.seed is None else options.seed,
        options=options,
    )
    if breach := source_breach(source):
        return _refused(task, breach)
    with Zygote() if zygote is None else nullcontext(zygote) as used:
        return _grade(task, used, device)


def _grade(task: _Task, zygote: Zygote, device: DeviceTrack | None) -> Graded:
    record = _Record()
    drawn = _set_up(task, zygote, device, record)
    with _kernel_builds(task, zygote, device) as builds:
        machine = _Machine(zygote, builds, device)
        _run(task, machine, record, drawn)
        _check_launches(task, machine, record, drawn)
        measured = _measure(task, machine, record, drawn)
        decision = _decide(task, machine, record, measured)
        report = _report(task, machine, record, measured, decision)
        return _name_mistakes(task, record, measured, decision, report)


# --- what the stages share -----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Task:
    """What is graded, and how."""

    exercise: Exercise
    track: Track
    source: str
    limits: Mapping[str, float]
    seed: int
    options: Options

    def report_progress(self, phase: Phase, case: int = 0, count: int = 0) -> None:
        if self.options.on_progress:
            self.options.on_progress(phase, case, count)

    def receipt(self, cases: str) -> Receipt:
        """Return the end of a report; `cases` is the hash of what was run."""
        return receipt(
            self.exercise,
            self.source,
            cases=cases,
            seed=self.seed,
            node=self.options.node or platform.node(),
            limits=self.limits,
        )

    def random(self, purpose: int) -> np.random.Generator:
        """Return a source of numbers by chance that repeats with the seed, one for each purpose."""
        return np.random.default_rng([self.seed, purpose])


_FOR_MEASURING: Final = 1
_FOR_LAUNCHES: Final = 3


@dataclass(frozen=True, slots=True)
class _Cases:
    public: list[Case]
    hidden: list[Case]


@dataclass(frozen=True, slots=True)
class _Machine:
    """Where it is done: kernels are built for runs without a device only."""

    zygote: Zygote
    builds: Builds | None
    device: DeviceTrack | None

    @property
    def execution(self) -> str:
        """How kernels were run, in words; empty where there are none."""
        if self.device:
            return self.device.execution
        return EXECUTION if self.builds else ""


@dataclass(slots=True)
class _Record:
    """What came of the runs, in their order, and how long each stage took."""

    cases: list[Case] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    case_hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def hash(self) -> str:
        """What was run, as one hash."""
        return self.case_hash.hexdigest()

    @property
    def judged(self) -> list[JudgedCase]:
        return [item for execution in self.executions for item in execution.judged]

    @property
    def stop(self) -> Stop | None:
        return self.executions[-1].stop if self.executions else None

    @property
    def all_passed(self) -> bool:
        passed = sum(item.verdict.passed for item in self.judged)
        return self.stop is None and passed == len(self.cases)

    def add(self, cases: Sequence[Case], execution: Execution) -> None:
        """Add cases that were not drawn with the others, and their run."""
        self.cases += cases
        self.executions.append(execution)

    def remaining(self, limits: Mapping[str, float]) -> Mapping[str, float]:
        """Return the limits, less what the runs until now used up of them."""
        own = sum(execution.run.own_seconds for execution in self.executions)
        clock = sum(execution.run.wall_seconds for execution in self.executions)
        cpu = sum(execution.run.cpu_seconds for execution in self.executions)
        return {
            **limits,
            "wall_seconds": max(limits["wall_seconds"] - own, 0.1),
            "patience_seconds": max(PATIENCE_SECONDS - clock, _LEAST_PATIENCE_SECONDS),
            "cpu_seconds": max(limits["cpu_seconds"] - cpu, 0.1),
        }

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        elapsed = (time.perf_counter() - started) * 1e3
        self.timings.append(Timing(phase=phase, ms=round(elapsed, 3)))


@dataclass(frozen=True, slots=True)
class _Measured:
    """What was timed or counted of a submission that passed."""

    speed: Speed | None = None
    counted: Counted | None = None
    spent: list[Spent] | None = None
    wrong_call: JudgedCase | None = None
    """A timed call that gave a different result."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """How it ended, and because of what."""

    outcome: Outcome
    score: float
    groups: list[GroupResult]
    failed: JudgedCase | None
    stop: Stop | None
    late: Stop | None
    """Where the hidden cases ended, after a public one had failed."""
    over: Failure | None
    """The budget that is exceeded."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The mistakes named; `awaited` before they are, `cut_short` if not all were tried."""

    mistakes: list[Mistake] = field(default_factory=list)
    awaited: bool = False
    cut_short: bool = False


# --- what is refused unread ----------------------------------------------------------------------
def _refused(task: _Task, breach: str) -> Graded:
    report = Report(failure=Failure(message=breach), receipt=task.receipt(_Record().hash))
    return Graded(Outcome.CONTRACT_ERROR, 0.0, report)


# --- setting up ----------------------------------------------------------------------------------
def _set_up(task: _Task, zygote: Zygote, device: DeviceTrack | None, record: _Record) -> _Cases:
    """Draw the cases, and see that the zygote stands."""
    task.report_progress(Phase.SETTING_UP)
    with record.timed("setting up"):
        drawn = _Cases(casegen.public_cases(task.exercise), [])
        if task.options.cases == "all":
            drawn.hidden.extend(casegen.hidden_cases(task.exercise, task.seed, task.track))
        if drawn.hidden and device:
            drawn.hidden.extend(device.further_cases(task.exercise, task.seed))
        record.cases = drawn.public + drawn.hidden
        zygote.start()
    return drawn


def _kernel_builds(
    task: _Task, zygote: Zygote, device: DeviceTrack | None
) -> AbstractContextManager[Builds | None]:
    if task.track is not Track.CUPY or device:
        return nullcontext()
    return Builds(zygote.builds, task.limits)


# --- running and judging -------------------------------------------------------------------------
def _run(task: _Task, machine: _Machine, record: _Record, drawn: _Cases) -> None:
    """Run and judge the public cases, and then, if they came to an end, the hidden ones.

    Two processes: what the first prints is shown, and the second's inputs are not in it.
    """
    _run_some(task, machine, record, drawn.public, first=0, show=True)
    if drawn.hidden and record.stop is None:
        _run_some(task, machine, record, drawn.hidden, first=len(drawn.public), show=False)


def _run_some(
    task: _Task, machine: _Machine, record: _Record, cases: list[Case], *, first: int, show: bool
) -> None:
    """Run and judge some of the cases in a process of their own; `show` what it says."""
    kind = "public" if show else "hidden"
    total = len(record.cases)
    begun: list[int] = []

    def on_case(number: int) -> None:
        begun.append(number)
        task.report_progress(Phase.RUNNING, min(first + number + 1, total), total)

    earlier = [execution.run for execution in record.executions]
    limits = record.remaining(task.limits)
    with record.timed(f"running {kind} cases"):
        job, run = execute(
            task.exercise,
            task.source,
            cases,
            limits,
            machine.zygote,
            on_case,
            builds=machine.builds,
            library=machine.device.library if machine.device else "",
        )
    record.case_hash.update(job)
    if begun:
        task.report_progress(Phase.COMPARING, first + len(cases), total)
    with record.timed(f"comparing {kind} cases"):
        execution = judge_run(task.exercise, cases, run, task.limits, earlier)
    if not execution.began:
        # Nothing was run, so nothing was compared either.
        both = sum(record.timings.pop().ms for _ in range(2))
        record.timings.append(Timing(phase="loading your file", ms=round(both, 3)))
    if execution.loading and (execution.stop is None or not execution.judged):
        execution.stop = problem_stop(execution.loading, task.exercise.class_name, show=show)
    if machine.builds:
        execution.stop = adjusted(execution, machine.builds)
        record.findings += findings_of(task.source, machine.builds, run, cases)
        machine.builds.finish()
    record.executions.append(execution)


# --- what is asked of a submission that passed ---------------------------------------------------
def _check_launches(task: _Task, machine: _Machine, record: _Record, drawn: _Cases) -> None:
    """Ask a program that passed, if it puts blocks along y or z, whether that ends at 65,535."""
    if not (drawn.hidden and machine.builds and record.all_passed):
        return
    if not spreads_rows([execution.run for execution in record.executions]):
        return
    with record.timed("checking launches"):
        found = refused_launch(
            task.exercise,
            task.source,
            record.remaining(task.limits),
            machine.zygote,
            machine.builds,
            task.random(_FOR_LAUNCHES),
        )
    if found:
        case, execution = found
        record.add([case], execution)
        record.findings += findings_of(task.source, machine.builds, execution.run, [case])


def _measure(task: _Task, machine: _Machine, record: _Record, drawn: _Cases) -> _Measured:
    """Time a submission that passed, or count what it moves where nothing can be timed."""
    if not (drawn.hidden and record.all_passed):
        return _Measured()
    if machine.builds:
        wanted = task.options.timed or task.exercise.budgets
        return _count(task, machine.zygote, machine.builds, record) if wanted else _Measured()
    # Budgets concern only what is counted.
    return _time(task, machine, record) if task.options.timed else _Measured()


def _count(task: _Task, zygote: Zygote, builds: Builds, record: _Record) -> _Measured:
    """Count what a submission moves, in a time of its own; it is one more case."""
    with record.timed("counting"):
        found = count(
            task.exercise, task.source, task.limits, zygote, builds, task.random(_FOR_MEASURING)
        )
    if found is None:
        return _Measured()
    if not found.passed:
        record.add(found.cases, found.execution)
    elif found.counts:
        record.findings += found.findings
        used = spent(task.exercise, found.counts, found.refused)
        return _Measured(counted=found.counted, spent=used)
    else:
        # The notes cannot be read, and no honest runner writes such notes.
        record.executions.append(Execution(stop=FLAGGED_STOP, run=found.execution.run))
    return _Measured(counted=found.counted)


def _time(task: _Task, machine: _Machine, record: _Record) -> _Measured:
    """Time a submission; a timed call that is wrong is one more case, failed."""
    with record.timed("timing"):
        measure = machine.device.measure if machine.device else measure_speed
        timed = measure(
            task.exercise,
            task.source,
            record.remaining(task.limits),
            machine.zygote,
            task.random(_FOR_MEASURING),
        )
    wrong_call = None
    if timed.failed and timed.stop is not FLAGGED_STOP:
        wrong_call = timed.failed
        record.add([timed.failed.case], Execution(judged=[timed.failed], run=timed.run))
    elif timed.stop and timed.case:
        # One more case, which was not run to its end.
        record.add([timed.case], Execution(stop=timed.stop, run=timed.run))
    return _Measured(speed=timed.speed, wrong_call=wrong_call)


# --- deciding ------------------------------------------------------------------------------------
def _decide(task: _Task, machine: _Machine, record: _Record, measured: _Measured) -> _Decision:
    judged, stop, late = record.judged, record.stop, None
    over = over_budget(measured.spent or ())
    failed = next((item for item in judged if not item.verdict.passed), None)
    if failed and failed.case.public and len(record.executions) > 1 and stop is not FLAGGED_STOP:
        # A failed public case is reported rather than how the hidden cases ended after it.
        stop, late = None, stop
    groups = reporting.group_results(
        reporting.asked_groups(task.exercise, record.cases), record.cases, judged
    )
    if machine.builds and any(not case.public for case in record.cases):
        groups += budget_results(task.exercise, measured.spent)
    if stop:
        outcome = stop.outcome
    elif failed:
        outcome = failed.verdict.outcome
    elif len(judged) == len(record.cases):
        outcome = Outcome.CONTRACT_ERROR if over else Outcome.ACCEPTED
    else:
        outcome = Outcome.NOT_GRADABLE
    score = 0.0 if outcome in _ENDING_OUTCOMES else reporting.score_of(groups)
    return _Decision(outcome, score, groups, failed, stop, late, over)


# --- reporting -----------------------------------------------------------------------------------
def _report(
    task: _Task, machine: _Machine, record: _Record, measured: _Measured, decision: _Decision
) -> Report:
    """Return the report, but for what the names of mistakes change in it; see `_graded`."""
    # Only the first run's output: the second's could contain hidden inputs.
    first = record.executions[0]
    return Report(
        groups=decision.groups,
        worst=reporting.worst_case(record.judged, _default_eps(task.exercise)),
        public=public_results(record.judged, task.exercise.gradients),
        speed=measured.speed,
        execution=machine.execution,
        findings=merged(record.findings),
        pasted=reporting.pasted_findings(task.source, first.loading, decision.failed),
        counted=measured.counted,
        receipt=task.receipt(record.hash),
        output=reporting.clean_text(first.run.output)[:MAX_OUTPUT_CHARACTERS],
        output_dropped_bytes=first.run.output_total - len(first.run.output),
    )


def _default_eps(exercise: Exercise) -> float | None:
    return exercise.default_eps if "eps" in exercise.constructor else None


# --- naming mistakes -----------------------------------------------------------------------------
def _name_mistakes(
    task: _Task, record: _Record, measured: _Measured, decision: _Decision, report: Report
) -> Graded:
    """Return the verdict with the names of its mistakes; it is sent without them before."""
    if not _may_have_a_name(task, record, measured, decision):
        return _graded(task, record, decision, report, _Names())
    if task.options.on_verdict:
        task.options.on_verdict(_graded(task, record, decision, report, _Names(awaited=True)))
    return _graded(task, record, decision, report, _look_for_names(task, record))


def _may_have_a_name(
    task: _Task, record: _Record, measured: _Measured, decision: _Decision
) -> bool:
    """Tell whether a known mistake may be the reason, and is to be looked for."""
    # A submission that passed every case and fails only a timed call has no mistake in the
    # mathematics. And where every failed case has a kernel error, that must be fixed first.
    return (
        decision.failed is not None
        and task.options.named
        and not record.stop
        and decision.failed is not measured.wrong_call
        and not kernel_track.explains_all(record.executions)
    )


def _look_for_names(task: _Task, record: _Record) -> _Names:
    time_left = SearchTime(task.options.search_seconds)
    mistakes: list[Mistake] = []
    with record.timed("looking for known mistakes"):
        runs = [execution.judged for execution in record.executions]
        try:
            mistakes = diagnose(task.exercise, runs, task.track, time_left)
        except Exception:
            # Our fault, but the verdict stands without a name, and may already have been shown.
            logger.exception("Looking for a known mistake of %s failed.", task.exercise.slug)
    mistakes = kernel_track.explained(task.exercise, mistakes, record.findings)
    return _Names(mistakes, cut_short=time_left.ran_out and not mistakes)


def _graded(
    task: _Task, record: _Record, decision: _Decision, report: Report, found: _Names
) -> Graded:
    """Return the verdict: all that the names of mistakes change is in here."""
    failure = _failure(task, record, decision, found.mistakes) or decision.over
    named = {
        "mistakes": found.mistakes,
        "naming": found.awaited,
        "failure": reporting.with_pasted(failure, report.pasted) if failure else None,
        "notes": [
            *_unexplained(decision, found, record.findings),
            *reporting.speed_notes(report.speed),
            *reporting.counted_notes(report.counted),
        ],
        "timings": list(record.timings),
    }
    return Graded(decision.outcome, decision.score, report.model_copy(update=named))


def _unexplained(decision: _Decision, found: _Names, findings: Sequence[Finding]) -> list[str]:
    """Return what is to be said beside a failure, of names as far as they were looked for."""
    if found.awaited and decision.late is None:
        return []
    return reporting.outcome_notes(
        decision.outcome, decision.late, found.mistakes, findings, cut_short=found.cut_short
    )


def _failure(
    task: _Task, record: _Record, decision: _Decision, mistakes: Sequence[Mistake]
) -> Failure | None:
    lines = task.source.count("\n") + 1
    stop, failed = decision.stop, decision.failed
    if stop:
        failure, outcome = reporting.stop_failure(stop, lines), stop.outcome
    elif failed:
        failure = reporting.case_failure(failed, lines, task.exercise.group_titles)
        failure, outcome = with_reason(failure, failed, record.findings), failed.verdict.outcome
    else:
        return None
    if NOT_REPEATED not in failure.message and names_sign(
        task.exercise, mistakes, Sign.NOT_REPEATABLE
    ):
        # A case reports wrong numbers first, but what matters is that they never repeat.
        failure = failure.model_copy(update={"message": f"{failure.message} {NOT_REPEATED}"})
    if outcome is Outcome.MEMORY_LIMIT and not failure.limit:
        limit, measured = memory_texts(record.executions[-1].run, task.limits)
        failure = failure.model_copy(update={"limit": limit, "measured": measured})
    return failure
