"""Grades one source: draws the cases, runs them in the sandbox, compares, diagnoses, reports."""

from __future__ import annotations

import hashlib
import logging
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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


@dataclass(slots=True)
class _Grading:
    """What one grading gathers on its way."""

    exercise: Exercise
    track: Track
    source: str
    limits: Mapping[str, float]
    zygote: Zygote
    node: str
    on_progress: OnProgress
    on_verdict: OnVerdict
    seed: int
    named: bool = True
    search_seconds: float = SEARCH_SECONDS
    cases: list[Case] = field(default_factory=list)
    executions: list[Execution] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    builds: Builds | None = None
    device: DeviceTrack | None = None
    speed: Speed | None = None
    counted: Counted | None = None
    spent: list[Spent] | None = None
    findings: list[Finding] = field(default_factory=list)
    timed_failure: JudgedCase | None = None
    case_hash: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def judged(self) -> list[JudgedCase]:
        return [item for execution in self.executions for item in execution.judged]

    @property
    def stop(self) -> Stop | None:
        return self.executions[-1].stop if self.executions else None

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        elapsed = (time.perf_counter() - started) * 1e3
        self.timings.append(Timing(phase=phase, ms=round(elapsed, 3)))


def grade_source(
    slug: str,
    track: str,
    source: str,
    *,
    cases: Literal["public", "all"] = "all",
    zygote: Zygote | None = None,
    seed: int | None = None,
    limits: Mapping[str, float] | None = None,
    node: str = "",
    on_progress: OnProgress | None = None,
    on_verdict: OnVerdict | None = None,
    timed: bool = True,
    named: bool = True,
    search_seconds: float = SEARCH_SECONDS,
    device: DeviceTrack | None = None,
) -> Graded:
    """Grade a source for an exercise and a track.

    Without `zygote` one is started for this call. `seed` repeats an earlier grading's cases;
    without it the operating system gives one. `limits` replaces some of the exercise's limits.
    `on_verdict` is called with the verdict before a mistake's name is looked for, if it is.
    `timed` False leaves out the timing of a submission that passed, `named` False the search for
    known mistakes, which has `search_seconds` of processor time. With `device` the program runs on
    one, and `zygote` is for it.

    Raises:
        UnknownExerciseError: there is no such exercise.
        LookupError: it has no such track here.
        SandboxError, JudgeError: the platform failed; the submission is not to blame.
    """
    exercise = get(slug)
    if track not in exercise.tracks:
        raise LookupError(f"The track {track} of {slug} cannot be graded by this worker.")
    own = Zygote() if zygote is None else None
    try:
        grading = _Grading(
            exercise=exercise,
            track=Track(track),
            source=source,
            limits={**exercise.limits_for(track), **(limits or {})},
            zygote=own or zygote or Zygote(),
            node=node or platform.node(),
            on_progress=on_progress or (lambda phase, case, count: None),
            on_verdict=on_verdict or (lambda graded: None),
            seed=casegen.new_seed() if seed is None else seed,
            device=device,
            named=named,
            search_seconds=search_seconds,
        )
        return _grade(grading, hidden=cases == "all", timed=timed)
    finally:
        if own:
            own.close()


def _grade(grading: _Grading, *, hidden: bool, timed: bool) -> Graded:
    if breach := source_breach(grading.source):
        failure = Failure(message=breach)
        report = Report(failure=failure, receipt=_receipt(grading))
        return Graded(Outcome.CONTRACT_ERROR, 0.0, report)
    grading.on_progress(Phase.SETTING_UP, 0, 0)
    with grading.timed("setting up"):
        public = casegen.public_cases(grading.exercise)
        secret = (
            casegen.hidden_cases(grading.exercise, grading.seed, grading.track) if hidden else []
        )
        if secret and grading.device:
            secret += grading.device.further_cases(grading.exercise, grading.seed)
        grading.cases = public + secret
        grading.zygote.start()
    if grading.track is not Track.CUPY or grading.device:
        return _play(grading, public, secret, timed=timed)
    with Builds(grading.zygote.builds, grading.limits) as grading.builds:
        return _play(grading, public, secret, timed=timed)


def _play(grading: _Grading, public: list[Case], secret: list[Case], *, timed: bool) -> Graded:
    # A device counts nothing.
    budgets = grading.exercise.budgets if grading.builds else ()
    # Two processes: what the first prints is shown, and the second's inputs are not in it.
    _run(grading, public, first=0, show=True)
    if secret and grading.stop is None:
        _run(grading, secret, first=len(public), show=False)
    if secret and grading.builds and _all_passed(grading):
        _launch_for_many_rows(grading, grading.builds)
    if secret and (timed or budgets) and _all_passed(grading):
        _time(grading) if grading.builds is None else _count(grading, grading.builds)
    return _conclude(grading)


def _all_passed(grading: _Grading) -> bool:
    passed = sum(item.verdict.passed for item in grading.judged)
    return grading.stop is None and passed == len(grading.cases)


def _launch_for_many_rows(grading: _Grading, builds: Builds) -> None:
    """Ask a program that passed, if it puts blocks along y or z, whether that ends at 65,535."""
    if not spreads_rows([execution.run for execution in grading.executions]):
        return
    with grading.timed("checking launches"):
        found = refused_launch(
            grading.exercise,
            grading.source,
            _remaining(grading),
            grading.zygote,
            builds,
            np.random.default_rng([grading.seed, 3]),
        )
    if found:
        case, execution = found
        grading.cases.append(case)
        grading.executions.append(execution)
        grading.findings += findings_of(grading.source, builds, execution.run, [case])


def _count(grading: _Grading, builds: Builds) -> None:
    """Count what a submission that passed moves, in a time of its own; it is one more case."""
    with grading.timed("counting"):
        found = count(
            grading.exercise,
            grading.source,
            grading.limits,
            grading.zygote,
            builds,
            np.random.default_rng([grading.seed, 1]),
        )
    if found is None:
        return
    grading.counted = found.counted
    if not found.passed:
        grading.cases += found.cases
        grading.executions.append(found.execution)
    elif found.counts:
        grading.findings += found.findings
        grading.spent = spent(grading.exercise, found.counts, found.refused)
    else:
        # What was noted cannot be read; no honest runner's is like that.
        grading.executions.append(Execution(stop=FLAGGED_STOP, run=found.execution.run))


def _time(grading: _Grading) -> None:
    """Time a submission that passed; a timed call that is wrong is one more case, failed."""
    with grading.timed("timing"):
        measure = grading.device.measure if grading.device else measure_speed
        timed = measure(
            grading.exercise,
            grading.source,
            _remaining(grading),
            grading.zygote,
            np.random.default_rng([grading.seed, 1]),
        )
    grading.speed = timed.speed
    if timed.failed and timed.stop is not FLAGGED_STOP:
        grading.timed_failure = timed.failed
        grading.cases.append(timed.failed.case)
        grading.executions.append(Execution(judged=[timed.failed], run=timed.run))
    elif timed.stop and timed.case:
        # One more case, that was not run to its end.
        grading.cases.append(timed.case)
        grading.executions.append(Execution(stop=timed.stop, run=timed.run))


def _run(grading: _Grading, cases: list[Case], *, first: int, show: bool) -> None:
    """Run and judge some of the cases in a process of their own; `show` what it says."""
    kind = "public" if show else "hidden"
    total = len(grading.cases)
    begun: list[int] = []

    def on_case(number: int) -> None:
        begun.append(number)
        grading.on_progress(Phase.RUNNING, min(first + number + 1, total), total)

    earlier = [execution.run for execution in grading.executions]
    limits = _remaining(grading)
    with grading.timed(f"running {kind} cases"):
        job, run = execute(
            grading.exercise,
            grading.source,
            cases,
            limits,
            grading.zygote,
            on_case,
            builds=grading.builds,
            library=grading.device.library if grading.device else "",
        )
    grading.case_hash.update(job)
    if begun:
        grading.on_progress(Phase.COMPARING, first + len(cases), total)
    with grading.timed(f"comparing {kind} cases"):
        execution = judge_run(grading.exercise, cases, run, grading.limits, earlier)
    if not execution.began:
        # Nothing was run, so nothing was compared either.
        both = sum(grading.timings.pop().ms for _ in range(2))
        grading.timings.append(Timing(phase="loading your file", ms=round(both, 3)))
    if execution.loading and (execution.stop is None or not execution.judged):
        stop = problem_stop(execution.loading, grading.exercise.class_name, show=show)
        execution.stop = stop
    if grading.builds:
        execution.stop = adjusted(execution, grading.builds)
        grading.findings += findings_of(grading.source, grading.builds, run, cases)
        grading.builds.finish()
    grading.executions.append(execution)


def _remaining(grading: _Grading) -> Mapping[str, float]:
    """Return the limits, less what earlier runs used up of them."""
    own = sum(execution.run.own_seconds for execution in grading.executions)
    clock = sum(execution.run.wall_seconds for execution in grading.executions)
    cpu = sum(execution.run.cpu_seconds for execution in grading.executions)
    return {
        **grading.limits,
        "wall_seconds": max(grading.limits["wall_seconds"] - own, 0.1),
        "patience_seconds": max(PATIENCE_SECONDS - clock, _LEAST_PATIENCE_SECONDS),
        "cpu_seconds": max(grading.limits["cpu_seconds"] - cpu, 0.1),
    }


def _conclude(grading: _Grading) -> Graded:
    judged, stop, late = grading.judged, grading.stop, None
    over = over_budget(grading.spent or ())
    failed = next((item for item in judged if not item.verdict.passed), None)
    if failed and failed.case.public and len(grading.executions) > 1 and stop is not FLAGGED_STOP:
        # What fails where all can be seen is told, not where the hidden cases ended after it.
        stop, late = None, stop
    groups = reporting.group_results(
        reporting.asked_groups(grading.exercise, grading.cases), grading.cases, judged
    )
    if grading.builds and any(not case.public for case in grading.cases):
        groups += budget_results(grading.exercise, grading.spent)
    if stop:
        outcome = stop.outcome
    elif failed:
        outcome = failed.verdict.outcome
    elif len(judged) == len(grading.cases):
        outcome = Outcome.CONTRACT_ERROR if over else Outcome.ACCEPTED
    else:
        outcome = Outcome.NOT_GRADABLE
    score = 0.0 if outcome in _ENDING_OUTCOMES else reporting.score_of(groups)
    # The first run's output only: the second's could hold hidden inputs.
    printed = grading.executions[0].run
    pasted = reporting.pasted_findings(grading.source, grading.executions[0].loading, failed)
    report = Report(
        groups=groups,
        worst=reporting.worst_case(judged, _default_eps(grading.exercise)),
        public=public_results(judged, grading.exercise.gradients),
        speed=grading.speed,
        execution=_execution(grading),
        findings=merged(grading.findings),
        pasted=pasted,
        counted=grading.counted,
        receipt=_receipt(grading),
        output=reporting.clean_text(printed.output)[:MAX_OUTPUT_CHARACTERS],
        output_dropped_bytes=printed.output_total - len(printed.output),
    )

    def graded(found: _Names) -> Graded:
        """Return the verdict: all that the names of mistakes change is in here."""
        failure = _failure(grading, stop, failed, found.mistakes) or over
        named = {
            "mistakes": found.mistakes,
            "naming": found.awaited,
            "failure": reporting.with_pasted(failure, pasted) if failure else None,
            "notes": [
                *_unexplained(outcome, late, found, grading.findings),
                *reporting.speed_notes(grading.speed),
                *reporting.counted_notes(grading.counted),
            ],
            "timings": list(grading.timings),
        }
        return Graded(outcome, score, report.model_copy(update=named))

    if failed is None or not _has_a_name(grading, failed):
        return graded(_Names())
    grading.on_verdict(graded(_Names(awaited=True)))
    return graded(_look_for_names(grading))


@dataclass(frozen=True, slots=True)
class _Names:
    """The mistakes named; `awaited` before they are, `cut_short` if not all were tried."""

    mistakes: list[Mistake] = field(default_factory=list)
    awaited: bool = False
    cut_short: bool = False


def _has_a_name(grading: _Grading, failed: JudgedCase) -> bool:
    """Tell whether a known mistake may be the reason, and is to be looked for."""
    # What passed every case, and fails a timed call only, is no mistake in the mathematics. And
    # where each failed case has an error of a kernel, that is what to mend first.
    return (
        grading.named
        and not grading.stop
        and failed is not grading.timed_failure
        and not kernel_track.explains_all(grading.executions)
    )


def _look_for_names(grading: _Grading) -> _Names:
    time_left = SearchTime(grading.search_seconds)
    mistakes: list[Mistake] = []
    with grading.timed("looking for known mistakes"):
        runs = [execution.judged for execution in grading.executions]
        try:
            mistakes = diagnose(grading.exercise, runs, grading.track, time_left)
        except Exception:
            # Ours, but the verdict stands without a name, and may have been shown.
            logger.exception("Looking for a known mistake of %s failed.", grading.exercise.slug)
    mistakes = kernel_track.explained(grading.exercise, mistakes, grading.findings)
    return _Names(mistakes, cut_short=time_left.ran_out and not mistakes)


def _unexplained(
    outcome: Outcome, late: Stop | None, found: _Names, findings: Sequence[Finding]
) -> list[str]:
    """Return what is to be said beside a failure, of names as far as they were looked for."""
    if found.awaited and late is None:
        return []
    return reporting.outcome_notes(
        outcome, late, found.mistakes, findings, cut_short=found.cut_short
    )


def _default_eps(exercise: Exercise) -> float | None:
    return exercise.default_eps if "eps" in exercise.constructor else None


def _failure(
    grading: _Grading,
    stop: Stop | None,
    failed: JudgedCase | None,
    mistakes: Sequence[Mistake],
) -> Failure | None:
    lines = grading.source.count("\n") + 1
    if stop is None and failed is None:
        return None
    if stop:
        failure, outcome = reporting.stop_failure(stop, lines), stop.outcome
    else:
        assert failed is not None  # noqa: S101  looked at above
        titles = grading.exercise.group_titles
        failure = reporting.case_failure(failed, lines, titles)
        failure, outcome = with_reason(failure, failed, grading.findings), failed.verdict.outcome
    if NOT_REPEATED not in failure.message and names_sign(
        grading.exercise, mistakes, Sign.NOT_REPEATABLE
    ):
        # Wrong numbers come first in a case, but that they never repeat is what to know.
        failure = failure.model_copy(update={"message": f"{failure.message} {NOT_REPEATED}"})
    if outcome is Outcome.MEMORY_LIMIT and not failure.limit:
        limit, measured = memory_texts(grading.executions[-1].run, grading.limits)
        failure = failure.model_copy(update={"limit": limit, "measured": measured})
    return failure


def _execution(grading: _Grading) -> str:
    if grading.device:
        return grading.device.execution
    return EXECUTION if grading.builds else ""


def _receipt(grading: _Grading) -> Receipt:
    return receipt(
        grading.exercise,
        grading.source,
        cases=grading.case_hash.hexdigest(),
        seed=grading.seed,
        node=grading.node,
        limits=grading.limits,
    )
