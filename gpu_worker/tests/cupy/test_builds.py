"""A program is not to blame for the time that its kernels take to build."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import numpy as np
import pytest

from gpu_worker.exercises import get
from gpu_worker.judge import Options, grading
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.kernels.counting import count
from gpu_worker.judge.running import builds
from gpu_worker.judge.running.builds import Builds
from gpu_worker.judge.running.execution import Stop, execute
from gpu_worker.messages.protocol import Outcome, Track
from gpu_worker.sandbox import compiling
from gpu_worker.sandbox.client import PATIENCE_SECONDS, Request, RunResult
from gpu_worker.sandbox.inside import building
from gpu_worker.sandbox.inside.building import BuildAnswer, BuildRequest
from gpu_worker.sandbox.inside.wire import Frame, FrameKind

LIMITS = get("rmsnorm").limits_for("cupy")


class OutOfTime:
    """Ends each run at its time limit."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def run(self, request: Request) -> RunResult:
        self.requests.append(request)
        own = request.wall_seconds
        return RunResult(ending="timed_out", wall_seconds=2 * own, waited_seconds=own)


def test_waiting_for_builds_is_not_counted_as_the_programs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zygote, exercise = OutOfTime(), get("rmsnorm")
    go_on = threading.Event()
    monkeypatch.setattr(builds, "_compile", lambda request: go_on.wait() and _NOTHING)
    with Builds(str(tmp_path), LIMITS) as made:
        execute(exercise, "", casegen.public_cases(exercise), LIMITS, zygote, builds=made)  # type: ignore[arg-type]
        (request,) = zygote.requests
        assert request.is_awaited is not None
        assert not request.is_awaited()
        for number, source in enumerate(("one", "other")):
            sent = building.encode_build(BuildRequest(source, (), ()))
            made.on_frame(Frame(FrameKind.BUILD, 0, number, sent))
        assert request.is_awaited()
        go_on.set()
        made.finish()
        assert not request.is_awaited()


_NOTHING = (BuildAnswer(), b"", 0.0)


def test_a_compiler_starved_by_a_busy_machine_is_our_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = compiling.CompilerRun(-9, "", "wall", 45.0, 0.4)
    monkeypatch.setattr(compiling, "run", lambda *_: ended)
    kernel = f'extern "C" __global__ void k(int* y) {{ y[0] = {random.getrandbits(31)}; }}'
    answer, _, _ = builds._compile(BuildRequest(kernel, (), ()))
    assert answer.missing
    assert "not your program's fault" in answer.error


def test_a_counted_run_with_too_many_builds_is_told_so(tmp_path: Path) -> None:
    with Builds(str(tmp_path), LIMITS) as made:
        made.exceeded, made.limit, made.used = "Too many kernels.", "64 builds", "65 builds"
        exercise, rng = get("rmsnorm_fused_forward"), np.random.default_rng(1)
        found = count(exercise, "", LIMITS, OutOfTime(), made, rng)  # type: ignore[arg-type]
    assert found is not None
    assert not found.passed
    assert found.execution.stop == Stop(
        Outcome.TIME_LIMIT, "Too many kernels.", limit="64 builds", measured="65 builds"
    )


def test_builds_are_timed_separately_for_each_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "_compile", lambda request: (BuildAnswer(error="no"), b"", 2.5))
    sent = building.encode_build(BuildRequest("source", (), ()))
    with Builds(str(tmp_path), LIMITS) as made:
        made.begin_run()
        made.on_frame(Frame(FrameKind.BUILD, 0, 0, sent))
        first = made.finish()
        made.begin_run()
        assert made.finish() == 0.0
    assert 0.0 < first < 2.5
    assert made.seconds == 2.5


def test_a_source_that_does_not_compile_is_tried_once_for_all_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[BuildRequest] = []

    def compiled(request: BuildRequest) -> tuple[BuildAnswer, bytes, float]:
        tried.append(request)
        return BuildAnswer(error="no such type"), b"", 1.0

    monkeypatch.setattr(builds, "_compile", compiled)
    sent = building.encode_build(BuildRequest("source", (), ()))
    with Builds(str(tmp_path), LIMITS) as made:
        for _ in range(2):
            made.begin_run()
            made.on_frame(Frame(FrameKind.BUILD, 0, 0, sent))
            made.finish()
            answer = building.Builder(lambda number, payload: None, str(tmp_path)).wait(0)
            assert answer.error == "no such type"
    assert len(tried) == 1
    assert made.seconds == 1.0


def test_a_restarted_run_requests_no_further_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "_compile", lambda request: (BuildAnswer(), b"library", 0.1))
    with Builds(str(tmp_path), {**LIMITS, "builds": 2.0}) as made:
        for number, source in enumerate(("a", "b", "a", "b", "c")):
            assert made.exceeded == ""
            if number % 2 == 0:
                made.begin_run()
            sent = building.encode_build(BuildRequest(source, (), ()))
            made.on_frame(Frame(FrameKind.BUILD, 0, number, sent))
        made.finish()
    assert (made.limit, made.used) == ("2 builds", "3 builds")


def test_a_build_that_crashes_is_answered_as_our_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builds, "_compile", lambda request: os.stat("/no such folder"))
    sent = building.encode_build(BuildRequest("source", (), ()))
    with Builds(str(tmp_path), LIMITS) as made:
        made.begin_run()
        made.on_frame(Frame(FrameKind.BUILD, 0, 0, sent))
        made.finish()
        answer = building.Builder(lambda number, payload: None, str(tmp_path)).wait(0)
    assert answer.missing
    assert "lies with this worker" in made.missing == answer.error


def test_the_limit_of_builds_is_in_processor_time() -> None:
    """A source that was not built before, so that there is something to time."""
    kernel = f'extern "C" __global__ void k(int* y) {{ y[0] = {random.getrandbits(31)}; }}'
    answer, library, good = builds._compile(BuildRequest(kernel, (), ()))
    wrong, nothing, bad = builds._compile(BuildRequest(kernel.replace("int*", "No*"), (), ()))
    assert (answer.error, nothing) == ("", b"")
    assert library
    assert "'No'" in wrong.error
    assert good > 0 < bad
    assert builds._compile(BuildRequest(kernel, (), ()))[2] == 0.0


def test_cases_share_a_time_limit_and_counted_calls_have_their_own(tmp_path: Path) -> None:
    limit, zygote = LIMITS["wall_seconds"], OutOfTime()
    task = grading._Task(
        exercise=get("rmsnorm_fused_forward"), track=Track.CUPY, source="", limits=LIMITS,
        seed=1, options=Options(),
    )  # fmt: skip
    record, public = grading._Record(), casegen.public_cases(task.exercise)
    with Builds(str(tmp_path), LIMITS) as made:
        machine = grading._Machine(zygote, made, None)  # type: ignore[arg-type]
        grading._run(task, machine, record, grading._Cases(public, []))
        left = record.remaining(task.limits)
        assert left["wall_seconds"] == pytest.approx(0.1)
        assert left["patience_seconds"] == pytest.approx(PATIENCE_SECONDS - 2 * limit)
        grading._count(task, machine.zygote, made, record)
    assert [request.wall_seconds for request in zygote.requests] == [limit, limit]
    assert record.stop is not None
    assert (record.stop.limit, record.stop.measured) == (f"{limit:g} s", f"{limit:.2f} s")
