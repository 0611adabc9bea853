"""Runs cases in the sandbox and judges them; explains runs that ended early."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gpu_worker.cupy_cpu.executor import cause_rank
from gpu_worker.exercises.registry import Exercise
from gpu_worker.judge.cases.case import Case, method_at, place_of
from gpu_worker.judge.cases.reference import expected_results
from gpu_worker.judge.diagnosis.search import JudgedCase
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.verdict.compare import judge_case
from gpu_worker.judge.verdict.kernel_faults import MEANINGS
from gpu_worker.judge.verdict.notes import read_notes
from gpu_worker.judge.verdict.refusals import FORBIDDEN_IMPORT
from gpu_worker.judge.verdict.transcript import (
    COMPILE_ERROR,
    Raised,
    Refused,
    Transcript,
    problem_of,
    read_transcript,
)
from gpu_worker.messages.protocol import Outcome
from gpu_worker.pasted import NOT_PYTHON
from gpu_worker.sandbox.client import (
    OUTPUT_DRAIN_BYTES,
    PATIENCE_SECONDS,
    Request,
    RunResult,
    Zygote,
)
from gpu_worker.sandbox.inside.wire import (
    LOADING,
    Frame,
    FrameKind,
    Job,
    WireError,
    cases_part,
    encode_job,
    total_bytes,
)

_MEGABYTE = 1 << 20
_KILOBYTE = 1 << 10
_BUILDS_BYTES = 24 * _MEGABYTE
"""CUDA source that is sent to be built, beside results."""
_STOPPED: Final = "CUDADriverError"
"""Exceptions of launches that a device would refuse or that cannot continue."""
_NEAR_THE_LIMIT = 0.9
"""A run killed with this share of a limit used up is attributed to that limit."""
_MAPPED_BYTES: Final = 64 * _MEGABYTE
"""Address space that Python and NumPy take without using it; it counts for the limit too."""
MEMORY_ERROR_SECONDS: Final = 0.5
"""A program that spends more than this in cases that end in want of memory is stopped."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended before its end, or could not begin. Fields as in `protocol.Failure`."""

    outcome: Outcome
    message: str
    line: int = 0
    traceback: str = ""
    limit: str = ""
    measured: str = ""


FLAGGED_STOP: Final = Stop(
    Outcome.FLAGGED,
    "The program interfered with the way in which results are sent to the grader. It is not "
    "scored; a person looks at it.",
)


@dataclass(slots=True)
class Execution:
    """One run: the judged cases, and why they are fewer than asked for, if they are.

    `loading` is why the file could not be loaded; `began` is false if no case was begun.
    """

    judged: list[JudgedCase] = field(default_factory=list)
    stop: Stop | None = None
    run: RunResult = field(default_factory=RunResult)
    loading: Raised | Refused | None = None
    began: bool = True


def execute(
    exercise: Exercise,
    source: str,
    cases: Sequence[Case],
    limits: Mapping[str, float],
    zygote: Zygote,
    on_case: Callable[[int], None] | None = None,
    *,
    builds: Builds | None = None,
    counted: bool = False,
    launches_only: bool = False,
    library: str = "",
) -> tuple[memoryview, RunResult]:
    """Run the cases on the source. Returns the job's bytes of them, for the receipt, and the run.

    `limits` are the exercise's; `on_case` is called with the number of each case that starts.
    With `builds` the source is of the CuPy track, and its kernels are built there; `counted`
    asks for what each call moves, `launches_only` has launches checked and no kernel run. `library`
    names the module of arrays where it is another one.
    While a kernel is being built, what the program waits for is not its own time.

    Raises:
        SandboxError: the sandbox failed.
    """
    library = library or ("cupy" if builds else "numpy")
    scripts = tuple(case.script for case in cases)
    inputs = sum(total_bytes(script.arrays) for script in scripts)
    # Results are about as large as inputs, once per call where calls repeat; float64 in place
    # of float16 makes them four times as large.
    size = 48 * inputs + (_BUILDS_BYTES if builds else _MEGABYTE)
    job = encode_job(
        Job(
            source,
            exercise.class_name,
            scripts,
            library=library,
            counted=counted,
            launches_only=launches_only,
        )
    )

    if builds:
        builds.begin_run()
    run = run_request(
        limits,
        zygote,
        size,
        _FrameWatch(on_case, builds),
        job=job,
        is_awaited=builds.is_awaited if builds else None,
    )
    return cases_part(job), run


def kernel_errors(run: RunResult) -> Mapping[int, str]:
    """Return the worst kind of error that was found of kernels in each case."""
    found: dict[int, list[str]] = {}
    try:
        for item in read_notes(run.frames):
            found.setdefault(item.case, []).extend(
                note.kind
                for note in item.notes.diagnostics
                if note.severity == "error" and note.kind in MEANINGS
            )
    except WireError:
        # Forged notes are handled together with the end of the run.
        return {}
    return {case: min(kinds, key=cause_rank) for case, kinds in found.items() if kinds}


class _FrameWatch:
    """Tells of each case that starts, and has a run ended that only goes on to want memory."""

    def __init__(self, on_case: Callable[[int], None] | None, builds: Builds | None) -> None:
        self._on_case, self._builds = on_case, builds
        self._begun = self._wasted = 0.0

    def __call__(self, frame: Frame) -> bool:
        if self._builds:
            self._builds.on_frame(frame)
        if frame.kind is FrameKind.BEGIN:
            self._begun = time.monotonic()
            if self._on_case:
                self._on_case(frame.case)
        elif frame.kind is FrameKind.RAISED and frame.case != LOADING:
            problem = problem_of(frame)
            if isinstance(problem, Raised) and problem.name == "MemoryError":
                self._wasted += time.monotonic() - self._begun
        return self._wasted > MEMORY_ERROR_SECONDS


def run_request(
    limits: Mapping[str, float],
    zygote: Zygote,
    result_bytes: int,
    on_frame: Callable[[Frame], bool | None],
    *,
    job: bytes = b"",
    job_descriptor: int | None = None,
    job_writable: bool = False,
    is_awaited: Callable[[], bool] | None = None,
) -> RunResult:
    """Run a job, given as bytes or as an open file, under an exercise's limits.

    What it waits for while `is_awaited` counts towards none of them.

    Raises:
        SandboxError: the sandbox failed.
    """
    return zygote.run(
        Request(
            job=job,
            wall_seconds=limits["wall_seconds"],
            cpu_seconds=limits["cpu_seconds"],
            memory_bytes=int(limits["memory_megabytes"]) * _MEGABYTE,
            file_bytes=int(limits["scratch_megabytes"]) * _MEGABYTE,
            output_bytes=int(limits["output_kilobytes"]) * _KILOBYTE,
            result_bytes=result_bytes,
            on_frame=on_frame,
            patience_seconds=limits.get("patience_seconds", PATIENCE_SECONDS),
            is_awaited=is_awaited,
            job_descriptor=job_descriptor,
            job_writable=job_writable,
        )
    )


def judge_run(
    exercise: Exercise,
    cases: Sequence[Case],
    run: RunResult,
    limits: Mapping[str, float],
    earlier: Sequence[RunResult] = (),
) -> Execution:
    """Judge what a run sent, case by case; a case that did not end is not judged.

    `limits` hold for this run and the `earlier` ones of the same grading together.

    Raises:
        JudgeError: the reference's own numbers are unusable.
    """
    transcript = read_transcript(run.frames, cases)
    stop = _reason_to_stop(transcript, run, limits, earlier)
    if stop and stop is not FLAGGED_STOP:
        stop = replace(stop, message=f"{stop.message} {_place(exercise, cases, transcript)}")
    stopped_by = kernel_errors(run)
    judged = []
    for number, (case, played) in enumerate(zip(cases, transcript.cases, strict=False)):
        if not played.complete and not played.problem:
            break
        expected = expected_results(exercise, case)
        verdict = judge_case(case, played, expected, exercise.gradients)
        kind = stopped_by.get(number)
        if kind and isinstance(verdict.problem, Raised) and verdict.problem.name == _STOPPED:
            text = f"A kernel was stopped. {MEANINGS[kind]} {verdict.message}"
            verdict = replace(verdict, message=text)
        judged.append(JudgedCase(case, played, expected, verdict))
    if stop is None and len(judged) < len(cases):
        # Fail closed: with no explanation, this cannot count as a pass.
        stop = Stop(Outcome.RUNTIME_ERROR, "The program ended before every case was run.")
    return Execution(judged, stop, run, transcript.loading, began=bool(transcript.cases))


def _place(exercise: Exercise, cases: Sequence[Case], transcript: Transcript) -> str:
    """Say where a run stood when it ended; of hidden cases no more than a failed one shows."""
    if transcript.loading:
        return "It was still loading your file."
    if not transcript.cases:
        return "It was loading your file."
    played, case = transcript.cases[-1], cases[len(transcript.cases) - 1]
    where = place_of(case, exercise.group_titles)
    if played.complete:
        return f"That was after {where}."
    method = method_at(case, played.called)
    return f"It was running {method} in {where}." if method else f"It was in {where}."


def problem_stop(problem: Raised | Refused, class_name: str, *, show: bool) -> Stop:
    """Describe why a file could not be loaded; `show` gives message and traceback too."""
    if isinstance(problem, Refused):
        found = f" It defines {problem.text[:200]}." if problem.text and show else ""
        return Stop(
            Outcome.CONTRACT_ERROR,
            f"Your file defines no class {class_name}.{found} Name the class exactly so.",
        )
    line = problem.line
    trace = problem.traceback if show else ""
    if problem.name == "ForbiddenImportError":
        text = problem.message[:300] if show else FORBIDDEN_IMPORT
        return Stop(Outcome.CONTRACT_ERROR, text, line, trace)
    if problem.name == "MemoryError":
        return Stop(
            Outcome.MEMORY_LIMIT, "Loading your file took more memory than allowed.", line, trace
        )
    if problem.name in NOT_PYTHON:
        return Stop(
            Outcome.RUNTIME_ERROR, f"Your file is not valid Python: {problem.name}.", line, trace
        )
    if problem.name == COMPILE_ERROR:
        text = "A kernel does not compile, which your file needs while it is loaded."
        return Stop(Outcome.RUNTIME_ERROR, text, line, trace)
    return Stop(Outcome.RUNTIME_ERROR, f"Loading your file raised {problem.name}.", line, trace)


def _reason_to_stop(
    transcript: Transcript,
    run: RunResult,
    limits: Mapping[str, float],
    earlier: Sequence[RunResult],
) -> Stop | None:
    """Return why the run did not come to its regular end; None if it did, or nothing says why."""
    if run.forged or transcript.forged:
        # This comes first: whatever limit such a program also hits, a person looks at it.
        return FLAGGED_STOP
    if run.overflow == "output":
        return Stop(
            Outcome.OUTPUT_LIMIT,
            "The program printed more than allowed and was stopped. Print less: of what is "
            f"printed, {limits['output_kilobytes']:g} KB are kept and shown, however much it is.",
            limit=f"{OUTPUT_DRAIN_BYTES // _MEGABYTE} MB",
            measured=f"more than {OUTPUT_DRAIN_BYTES // _MEGABYTE} MB",
        )
    if run.overflow == "result":
        return Stop(
            Outcome.OUTPUT_LIMIT,
            "The program's results are far larger than its inputs; it was stopped.",
        )
    if run.overflow == "frame" or run.ending == "out_of_memory":
        limit, measured = memory_texts(run, limits)
        text = "The program used up the memory that is allowed, kept on, and was stopped."
        return Stop(Outcome.MEMORY_LIMIT, text, limit=limit, measured=measured)
    if run.overflow == "ender":
        limit = f"{limits['device_megabytes']:g} MB"
        text = "The program took more of the device's memory than is allowed, and was stopped."
        return Stop(Outcome.MEMORY_LIMIT, text, limit=limit, measured=f"more than {limit}")
    if timeout := _time_stop(run, limits, earlier):
        return timeout
    if transcript.ended and run.ending == "ended" and run.exit_code == 0:
        return None
    return crash_stop(run, limits)


def _time_stop(
    run: RunResult, limits: Mapping[str, float], earlier: Sequence[RunResult]
) -> Stop | None:
    own = run.own_seconds + sum(other.own_seconds for other in earlier)
    cpu = run.cpu_seconds + sum(other.cpu_seconds for other in earlier)
    if run.ending == "starved":
        return Stop(Outcome.NOT_GRADABLE, starved_text(run))
    if run.ending == "timed_out":
        return Stop(
            Outcome.TIME_LIMIT,
            timeout_text(run),
            limit=f"{limits['wall_seconds']:g} s",
            measured=f"{own:.2f} s",
        )
    used_up = cpu >= _NEAR_THE_LIMIT * limits["cpu_seconds"]
    if run.signal == signal.SIGXCPU or (run.signal == signal.SIGKILL and used_up):
        return Stop(
            Outcome.TIME_LIMIT,
            "The program used more processor time than allowed and was stopped.",
            limit=f"{limits['cpu_seconds']:g} s of processor time",
            measured=f"{cpu:.2f} s of processor time",
        )
    return None


def timeout_text(run: RunResult) -> str:
    """Say what a program did with its time that used it up, of its own accord."""
    if run.waited_seconds > run.cpu_seconds:
        return (
            "The program waited longer than allowed, and was stopped: in a sleep, for input or for "
            "a lock. Nothing here makes a program wait."
        )
    return "The program ran longer than allowed and was stopped."


def starved_text(run: RunResult) -> str:
    """Say that a machine had no time for a program, which is nobody's verdict."""
    return (
        "This worker had too much to do: it gave the program "
        f"{run.cpu_seconds:.1f} s of the processor in {run.wall_seconds:.0f} s, of which it may "
        "have more. That is not your program's fault and costs no attempt. Send it again."
    )


def crash_stop(run: RunResult, limits: Mapping[str, float]) -> Stop:
    """Say how a program ended that was to go on."""
    memory = int(limits["memory_megabytes"]) * _MEGABYTE
    crashed = run.signal is not None or run.exit_code == 1
    if crashed and run.peak_bytes + _MAPPED_BYTES >= _NEAR_THE_LIMIT * memory:
        limit, measured = memory_texts(run, limits)
        text = "The program crashed with all the memory in use that is allowed."
        return Stop(Outcome.MEMORY_LIMIT, text, limit=limit, measured=measured)
    if run.signal is not None:
        name = _signal_name(run.signal)
        return Stop(Outcome.RUNTIME_ERROR, f"The program was ended by the signal {name}.")
    return Stop(
        Outcome.RUNTIME_ERROR,
        f"The program ended by itself, with exit code {run.exit_code}, before every case was "
        "run. Do not call exit, quit or os._exit.",
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Of the real-time signals, only the first and the last have names.
        return str(number)


def memory_texts(run: RunResult, limits: Mapping[str, float]) -> tuple[str, str]:
    """Return limit and measured value as texts; memory that was refused is not in the latter."""
    in_use = run.peak_bytes / _MEGABYTE
    return (
        f"{limits['memory_megabytes']:g} MB",
        f"{in_use:.0f} MB in use at most, and more was asked for",
    )
