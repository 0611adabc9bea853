"""A run shows what a program does, under the walls and limits of a grading, and nothing hidden."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery

from gpu_worker.cuda_cpu import CompilerMissingError
from gpu_worker.exercises import get
from gpu_worker.exercises.spec import CODE_LIMITS
from gpu_worker.judge import Options, grade_source
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.running import builds
from gpu_worker.messages.protocol import Track
from gpu_worker.messages.queues import TASK_RECORD_RUN
from gpu_worker.messages.runs import RunJob, RunKind, RunOutcome, RunUpdate
from gpu_worker.sandbox.client import SandboxError, Zygote
from gpu_worker.worker import reporter, running, tasks
from gpu_worker.worker.running import run_job, run_program, run_public_cases


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    own = Zygote()
    yield own
    own.close()


@pytest.mark.parametrize(
    ("source", "outcome", "line", "says"),
    [
        ("print('hello')\n", "completed", None, ""),
        ("if __name__ == '__main__':\n    print('hello')\n", "completed", None, ""),
        ("print('hello')\nimport sys\nsys.exit()\n", "completed", None, ""),
        ("print('hello')\nimport os\nos._exit(0)\n", "completed", None, ""),
        ("print('hello')\n1 / 0\n", "runtime_error", 2, "ZeroDivisionError in line 2"),
        ("print('hello')\nraise SystemExit(3)\n", "runtime_error", None, "exit code 3"),
        ("def f(:\n", "runtime_error", 1, "Line 1 is not valid Python: invalid syntax."),
        ("import requests\n", "contract_error", 1, "requests is not available here"),
        ("x = [0] * 10**9\n", "memory_limit", 1, "more memory than allowed"),
        ("while True: print('hello' * 2000)\n", "output_limit", None, "printed more"),
        ("input()\n", "runtime_error", 1, "EOFError"),
        ("import os\nos.write(4, b'x' * 99)\n", "runtime_error", None, "did not open"),
    ],
)
def test_a_program_shows_its_output_and_what_ended_it(
    zygote: Zygote, source: str, outcome: str, line: int | None, says: str
) -> None:
    found, report = run_program(source, zygote)
    assert found == outcome
    assert report.output.startswith("hello") == ("print('hello'" in source)
    assert (report.failure is None) == (outcome == "completed")
    if report.failure:
        assert says in report.failure.message
        assert report.failure.line == line
    assert report.limits == CODE_LIMITS


def test_a_program_that_does_not_end_is_stopped_with_limit_and_measure(zygote: Zygote) -> None:
    limits = {**CODE_LIMITS, "wall_seconds": 0.3}
    outcome, report = run_program("print('before', flush=True)\nwhile True: pass\n", zygote, limits)
    assert outcome is RunOutcome.TIME_LIMIT
    assert report.output == "before\n"
    assert report.failure is not None
    assert report.failure.limit == "0.3 s"
    assert report.failure.measured.startswith("0.3")


def test_output_is_cut_and_cleaned(zygote: Zygote) -> None:
    _, report = run_program("print('\\x1b[31m\\x00<b>é')\nprint('x' * 100_000)\n", zygote)
    assert report.output.startswith("[31m<b>é\nxxx")
    assert len(report.output) <= 64 << 10
    assert report.output_dropped_bytes > 30_000


def test_a_program_runs_behind_the_walls_of_a_grading(zygote: Zygote) -> None:
    source = (
        "import os, socket\n"
        "for act in (lambda: socket.socket(), os.fork, lambda: os.listdir('/root'),\n"
        "            lambda: open('/etc/shadow')):\n"
        "    try:\n"
        "        act()\n"
        "        print('OPEN')\n"
        "    except OSError as error:\n"
        "        print('closed')\n"
    )
    outcome, report = run_program(source, zygote)
    assert outcome is RunOutcome.COMPLETED
    assert report.output == "closed\n" * 4


def test_public_cases_are_judged_one_by_one(zygote: Zygote, right: str) -> None:
    exercise = get("rmsnorm")
    outcome, report = run_public_cases(exercise, right, zygote)
    assert outcome is RunOutcome.COMPLETED
    assert [case.title for case in report.cases] == [case.title for case in exercise.public_cases]
    assert all(case.passed and case.worst and not case.failure for case in report.cases)
    wrong = (exercise.folder / "submissions/wrong/eps_outside_root.py").read_text()
    outcome, report = run_public_cases(exercise, wrong, zygote)
    assert outcome is RunOutcome.WRONG_ANSWER
    assert [case.passed for case in report.cases] == [False, False, False, True]
    first = report.cases[0]
    assert first.failure is not None
    assert first.failure.message == "y is outside the tolerance."
    assert first.worst is not None
    assert first.worst.failed


def test_an_exception_in_a_case_names_message_and_line(zygote: Zygote, right: str) -> None:
    broken = right.replace("def backward(self, dout", "def backward(self, dout, more")
    _, report = run_public_cases(get("rmsnorm"), broken, zygote)
    assert [case.passed for case in report.cases] == [False] * 4
    lines = (
        "class RMSNormScratch:\n    def __init__(self, dim, eps=1e-6): self.gamma = None\n"
        "    def forward(self, x): raise KeyError('mine')\n"
    )
    outcome, report = run_public_cases(get("rmsnorm"), lines, zygote)
    assert outcome is RunOutcome.RUNTIME_ERROR
    failure = report.cases[0].failure
    assert failure is not None
    assert (failure.line, "mine" in failure.message) == (3, True)


def test_a_file_that_cannot_be_loaded_runs_no_case(zygote: Zygote) -> None:
    outcome, report = run_public_cases(get("rmsnorm"), "x = 1\ny = (\n", zygote)
    assert outcome is RunOutcome.RUNTIME_ERROR
    assert [case.passed for case in report.cases] == [None] * 4
    assert report.failure is not None
    assert report.failure.line == 2


@pytest.mark.parametrize(
    ("source", "kind", "says"),
    [
        ("class RMSNormScratch:\n\u00a0   pass\n", "space", "(U+00A0) in line 2, column 1."),
        (">>> x = 1\n", "prompt", "Line 1 begins with >>>"),
        ('{"cells": [{"cell_type": "code", "source": ["x"]}], "a": null}', "notebook", "Jupyter"),
        # Such a file is a program too, that defines nothing.
        ('{"cells": [{"cell_type": "code", "source": ["x"]}]}', "notebook", "Jupyter"),
    ],
)
def test_verdicts_and_runs_report_pasted_text_and_what_to_do(
    zygote: Zygote, source: str, kind: str, says: str
) -> None:
    graded = grade_source("rmsnorm", "numpy", source, Options(cases="public"), zygote=zygote).report
    _, run = run_public_cases(get("rmsnorm"), source, zygote)
    for report in (graded, run):
        assert [finding.kind for finding in report.pasted] == [kind]
        assert report.failure is not None
        assert says in report.failure.message


def test_a_program_with_bidirectional_controls_runs_with_a_warning(zygote: Zygote) -> None:
    outcome, report = run_program("x = 1  # \u202e\nprint('\u00a0\u2013\u201c')\n", zygote)
    assert (outcome, report.output) == ("completed", "\u00a0\u2013\u201c\n")
    assert [(finding.kind, finding.severity) for finding in report.pasted] == [("bidi", "warning")]


def test_a_kernel_that_does_not_compile_names_what_was_pasted_into_it(
    zygote: Zygote, kernel_source: str
) -> None:
    source = kernel_source.replace("__global__ void", "__global__\u00a0void", 1)
    assert source != kernel_source
    _, report = run_public_cases(get("rmsnorm"), source, zygote, "cupy")
    assert [finding.kind for finding in report.pasted] == ["space"]
    said = [report.failure, *(case.failure for case in report.cases)]
    assert "no-break space (U+00A0)" in str([failure.message for failure in said if failure])


def test_no_hidden_case_is_drawn_for_a_run(
    zygote: Zygote, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a run asked for hidden cases")

    monkeypatch.setattr(casegen, "hidden_cases", refuse)
    assert run_public_cases(get("rmsnorm"), right, zygote)[0] is RunOutcome.COMPLETED


# --- the CuPy track ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def kernel_source() -> str:
    folder = get("rmsnorm").folder / "submissions/cupy/correct"
    return (folder / "raw_block_per_row.py").read_text(encoding="utf-8")


def test_public_cases_of_the_cupy_track_build_their_kernels(
    zygote: Zygote, kernel_source: str
) -> None:
    exercise = get("rmsnorm")
    job = RunJob(
        run="r", lease="l", kind=RunKind.PUBLIC_CASES, exercise="rmsnorm", track=Track.CUPY,
        source=kernel_source, expires_at=time.time() + 60,
    )  # fmt: skip
    outcome, report = run_job(job, zygote)
    assert (outcome, report.failure) == (RunOutcome.COMPLETED, None)
    assert [case.passed for case in report.cases] == [True] * len(exercise.public_cases)
    assert report.limits == exercise.limits_for(Track.CUPY)


def test_a_defective_kernel_is_reported_with_its_line(zygote: Zygote, kernel_source: str) -> None:
    assert kernel_source.count("__syncthreads();") > 1
    wrong = kernel_source.replace("__syncthreads();", "")
    outcome, report = run_public_cases(get("rmsnorm"), wrong, zygote, Track.CUPY)
    assert outcome is RunOutcome.WRONG_ANSWER
    failure = report.cases[0].failure
    assert failure is not None
    assert "__syncthreads()" in failure.message
    assert failure.line


PARTED = "if (threadIdx.x < 4) __syncthreads(); else\n__syncthreads();"
"""Threads wait for each other at two barriers, and nobody can go on."""


def test_a_stopped_kernel_reports_its_defect_first(zygote: Zygote, kernel_source: str) -> None:
    wrong = kernel_source.replace("__syncthreads();", PARTED)
    outcome, report = run_public_cases(get("rmsnorm"), wrong, zygote, Track.CUPY)
    assert outcome is RunOutcome.RUNTIME_ERROR
    failure = report.cases[0].failure
    assert failure is not None
    assert failure.message.startswith("A kernel was stopped. Not all threads of the block reach")
    assert "Your code raised CUDADriverError in forward." in failure.message


def test_cupy_is_absent_in_public_cases_of_the_numpy_track(
    zygote: Zygote, kernel_source: str
) -> None:
    outcome, _ = run_public_cases(get("rmsnorm"), kernel_source, zygote)
    assert outcome is RunOutcome.CONTRACT_ERROR


def test_a_worker_without_a_compiler_says_that_it_could_not_run(
    zygote: Zygote, kernel_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise CompilerMissingError("Install g++.")

    monkeypatch.setattr(builds, "compile_source", missing)
    outcome, report = run_public_cases(get("rmsnorm"), kernel_source, zygote, Track.CUPY)
    assert outcome is RunOutcome.NOT_RUN
    assert report.failure is not None
    assert "Install g++." in report.failure.message


# --- the task ------------------------------------------------------------------------------------
@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[RunUpdate]]:
    """What the worker sends, instead of a queue."""
    messages: list[RunUpdate] = []

    def send(app: Celery, task: str, message: Any, *, retry: bool) -> None:
        assert task == TASK_RECORD_RUN
        messages.append(RunUpdate.from_message(message.to_message()))

    monkeypatch.setattr(reporter, "send", send)
    yield messages
    tasks.zygote.close()


def job(**fields: Any) -> dict[str, Any]:
    given = {
        "run": "r1",
        "lease": "l1",
        "kind": RunKind.CODE,
        "source": "print(1)\n",
        "expires_at": time.time() + 60,
    }
    return RunJob(**{**given, **fields}).to_message()


def test_a_run_is_announced_and_answered_under_its_lease(sent: list[RunUpdate]) -> None:
    tasks.run.run(job())
    assert [(update.run, update.lease, update.outcome) for update in sent] == [
        ("r1", "l1", None),
        ("r1", "l1", RunOutcome.COMPLETED),
    ]
    assert sent[1].report.output == "1\n"


def test_a_run_that_nobody_waits_for_is_skipped(sent: list[RunUpdate]) -> None:
    tasks.run.run(job(expires_at=time.time() - 1))
    assert sent == []


@pytest.mark.parametrize("message", [None, [], {}, {"run": "r1", "lease": "l1"}], ids=str)
def test_invalid_runs_are_dropped(message: object, sent: list[RunUpdate]) -> None:
    tasks.run.run(message)
    assert sent == []


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": RunKind.PUBLIC_CASES, "exercise": "no-such"},
        {"kind": RunKind.PUBLIC_CASES, "exercise": "softmax_cross_entropy", "track": Track.CUPY},
        {"kind": RunKind.PUBLIC_CASES},
    ],
    ids=str,
)
def test_runs_that_this_worker_cannot_do_are_our_fault(
    fields: dict[str, Any], sent: list[RunUpdate]
) -> None:
    tasks.run.run(job(**fields))
    assert sent[-1].outcome is RunOutcome.NOT_RUN
    assert sent[-1].report.failure is not None
    assert "not your program's fault" in sent[-1].report.failure.message


def test_a_failing_sandbox_is_tried_twice(
    sent: list[RunUpdate], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def fail(*_: object) -> None:
        tries.append(1)
        raise SandboxError("gone")

    monkeypatch.setattr(running, "run_job", fail)
    tasks.run.run(job())
    assert len(tries) == 2
    assert sent[-1].outcome is RunOutcome.NOT_RUN
