"""A program's time is what it computes and chooses to wait, not what other processes take."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpu_worker.exercises import get
from gpu_worker.exercises.spec import CODE_LIMITS
from gpu_worker.judge.cases import casegen
from gpu_worker.judge.running.execution import judge_run
from gpu_worker.messages.protocol import Outcome
from gpu_worker.sandbox.client import RunResult
from gpu_worker.sandbox.inside import supervisor
from gpu_worker.sandbox.inside.layers.own_time import OwnTime
from gpu_worker.sandbox.run import Collector, Request
from gpu_worker.worker import running

TICKS = os.sysconf("SC_CLK_TCK")


class Proc:
    """A /proc of one process, whose child is in the state that a test sets."""

    def __init__(self, folder: Path) -> None:
        (folder / "7/task/7").mkdir(parents=True)
        (folder / "self").symlink_to("7")
        (folder / "7/task/7/children").write_text("9 ")
        (folder / "9").mkdir()
        self._stat = folder / "9/stat"
        self.set("R", 0.0)
        self.descriptor = os.open(folder, os.O_RDONLY)

    def set(self, state: str, seconds: float) -> None:
        ticks = round(seconds * TICKS)
        self._stat.write_text(f"9 (a ) b) {state} " + "0 " * 10 + f"{ticks} 0 0 0 20 0 1")


@pytest.fixture
def proc(tmp_path: Path) -> Iterator[Proc]:
    made = Proc(tmp_path)
    yield made
    os.close(made.descriptor)


def test_waiting_to_be_scheduled_costs_no_time(proc: Proc) -> None:
    own = OwnTime(proc.descriptor)
    for _ in range(1_000):
        own.look(0.1, excused=False)
    assert own.seconds == 0.0
    proc.set("R", 0.4)
    own.look(0.1, excused=False)
    assert (own.computed, own.waited, own.waits_mostly) == (pytest.approx(0.4), 0.0, False)


def test_sleeping_costs_time_but_waiting_for_the_judge_does_not(proc: Proc) -> None:
    own = OwnTime(proc.descriptor)
    proc.set("S", 0.04)
    own.look(0.1, excused=False)
    assert own.waited == pytest.approx(0.06)
    for _ in range(20):
        own.look(0.1, excused=True)
    assert own.seconds == pytest.approx(0.1)
    # Time spent on disk access is not its own either.
    proc.set("D", 0.04)
    own.look(0.1, excused=False)
    assert own.seconds == pytest.approx(0.1)


def test_without_samples_only_the_clock_counts(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    own = OwnTime(descriptor)
    os.close(descriptor)
    own.look(0.1, excused=False)
    assert own.seconds == pytest.approx(0.1)


class Never:
    """Nothing is ever stuck for want of memory."""

    def is_stuck(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("state", "computed", "ending"),
    [("R", 0.0, "starved"), ("S", 0.0, "timed_out"), ("R", 9.0, "timed_out")],
)
def test_the_clock_ends_a_run_but_decides_no_verdict(
    state: str, computed: float, ending: str, proc: Proc, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = iter(range(0, 10**9, 3600))
    monkeypatch.setattr(supervisor.time, "monotonic", lambda: float(next(hours)))
    proc.set(state, computed)
    nothing, end = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        theirs.send(supervisor.CHARGED)
        own = OwnTime(proc.descriptor)
        found = supervisor._await_end(nothing, (8.0, 45.0), ours, Never(), own)  # type: ignore[arg-type]
    os.close(nothing)
    os.close(end)
    assert found == ending


def test_a_run_ends_when_the_judge_hangs_up(proc: Proc) -> None:
    nothing, end = os.pipe()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        theirs.send(supervisor.EXCUSED)
        theirs.shutdown(socket.SHUT_WR)
        own = OwnTime(proc.descriptor)
        found = supervisor._await_end(nothing, (8.0, 45.0), ours, Never(), own)  # type: ignore[arg-type]
    os.close(nothing)
    os.close(end)
    assert found == "cancelled"


STARVED = RunResult(ending="starved", wall_seconds=45.0, cpu_seconds=2.5)
ASLEEP = RunResult(ending="timed_out", wall_seconds=30.0, cpu_seconds=0.1, waited_seconds=10.0)
BUSY = RunResult(ending="timed_out", wall_seconds=30.0, cpu_seconds=9.9, waited_seconds=0.2)


@pytest.mark.parametrize("track", ["numpy", "cupy"])
def test_a_starved_program_has_no_verdict_and_a_slow_one_is_told(track: str) -> None:
    exercise = get("rmsnorm")
    cases, limits = casegen.public_cases(exercise), exercise.limits_for(track)
    starved, asleep, busy = (
        judge_run(exercise, cases, run, limits).stop for run in (STARVED, ASLEEP, BUSY)
    )
    assert starved is not None
    assert starved.outcome is Outcome.NOT_GRADABLE
    assert "2.5 s of the processor in 45 s" in starved.message
    assert "Send it again." in starved.message
    assert asleep is not None
    assert asleep.outcome is Outcome.TIME_LIMIT
    assert "in a sleep" in asleep.message
    assert asleep.measured == "10.10 s"
    assert busy is not None
    assert busy.outcome is Outcome.TIME_LIMIT
    assert "wait" not in busy.message
    assert busy.measured == "10.10 s"


def test_a_starved_run_has_no_outcome() -> None:
    stop = running._program_stop(STARVED, CODE_LIMITS)
    assert stop is not None
    assert running._ran("", stop, STARVED, CODE_LIMITS, 0.0)[0] == "not_run"


def test_a_report_counts_even_if_its_sender_left_a_message_unread() -> None:
    status, supervisor_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    report = {"setup_error": "", "ending": "ended", "exit_code": 3, "signal": None}
    measures = ("setup_seconds", "wall_seconds", "cpu_seconds", "waited_seconds", "peak_kilobytes")
    report |= dict.fromkeys(measures, 1)
    # The supervisor looks a last time, the judge says who is awaited, the supervisor reports.
    status.send(supervisor.EXCUSED)
    supervisor_end.send(json.dumps(report).encode())
    supervisor_end.close()
    request = Request(
        job=b"",
        wall_seconds=1.0,
        cpu_seconds=1.0,
        memory_bytes=1,
        file_bytes=1,
        output_bytes=1,
        result_bytes=1,
    )
    (result_fd, result_end), (output_fd, output_end) = os.pipe(), os.pipe()
    os.close(result_end)
    os.close(output_end)
    with status:
        assert Collector(request, result_fd, output_fd, status).collect().exit_code == 3
    os.close(result_fd)
    os.close(output_fd)
