"""A lane takes working devices, avoids the others, and hands jobs back without blaming programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpu_worker.gpu import lane as lanes
from gpu_worker.gpu import quarantine
from gpu_worker.gpu.examination import Facts, UnusableError
from gpu_worker.gpu.fleet import Fleet, why_unusable
from gpu_worker.gpu.intake import Intake
from gpu_worker.gpu.inventory import Gpu
from gpu_worker.gpu.lane import DRAIN_SECONDS, WAIT_SECONDS, Lane, ReturnedError
from gpu_worker.gpu.lock import FOLDER, device_lock
from gpu_worker.gpu.memory_watch import LOOK_SECONDS, MemoryWatch, watch
from gpu_worker.gpu.sandbox.profile import DeviceProfile
from gpu_worker.judge import Graded
from gpu_worker.judge.grading import OnVerdict
from gpu_worker.messages.protocol import GradeJob, NodeKind, Outcome, Report, Track
from gpu_worker.messages.queues import QUEUE_GPU, TASK_RECORD_RETURN, TASK_RECORD_VERDICT
from gpu_worker.sandbox.client import SandboxError
from gpu_worker.tests.gpu.stand_in import FACTS, GPU
from gpu_worker.worker import reporter, tasks

OTHER = Gpu("GPU-2", "stand-in", "0000:02:00.0", 1)
JOB = GradeJob(
    submission="s1",
    lease="l1",
    kind=NodeKind.DEVICE,
    attempt=1,
    exercise="rmsnorm",
    track=Track.CUPY,
    source="",
)
PASSED = Graded(Outcome.ACCEPTED, 1.0, Report())
CRASHED = Graded(Outcome.RUNTIME_ERROR, 0.0, Report())


class Bench:
    """A lane whose devices, clock and gradings a test sets."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.there = [GPU, OTHER]
        self.answers: dict[str, list[Facts | str]] = {}
        self.examined: list[str] = []
        self.graded: Graded | Exception = PASSED
        self.ran: list[Any] = []
        self.now = 0.0
        self.during: Callable[[], None] = lambda: None
        self.lane = Lane(
            find=lambda: self.there,
            examine=self._examine,
            profile=lambda gpu, facts: DeviceProfile(gpu.uuid, (), (), (), 1),
            pause=self._pause,
            clock=lambda: self.now,
        )
        monkeypatch.setattr(lanes, "grade_source", self._grade)
        monkeypatch.setattr(lanes, "MemoryWatch", NoWatch)

    def _examine(self, gpu: Gpu) -> Facts:
        self.examined.append(gpu.uuid)
        answers = self.answers.get(gpu.uuid, [])
        answer = answers.pop(0) if len(answers) > 1 else answers[0] if answers else FACTS
        if isinstance(answer, str):
            raise UnusableError(answer)
        return answer

    def _pause(self, seconds: float) -> None:
        self.now += seconds

    def _grade(self, *asked: Any, **where: Any) -> Graded:
        self.ran.append({"options": asked[-1], **where})
        self.during()
        if isinstance(self.graded, Exception):
            raise self.graded
        return self.graded

    def grade(self, on_verdict: OnVerdict | None = None) -> Graded:
        return self.lane.grade(JOB, "node", on_verdict=on_verdict)


def no_warming(gpu: Gpu, facts: Facts) -> None:
    return


class NoWatch:
    descriptor = -1

    def __init__(self, *_: Any) -> None:
        return

    def __enter__(self) -> NoWatch:
        return self

    def __exit__(self, *_: Any) -> None:
        return


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    return Bench(monkeypatch)


def held(uuid: str) -> Callable[[], None]:
    """Hold a device's lock as another process would; call what is returned to let go."""
    lock = device_lock(uuid)
    lock.__enter__()
    return lambda: lock.__exit__(None, None, None) and None


def test_a_job_is_graded_on_a_device_that_was_just_probed(bench: Bench) -> None:
    assert bench.grade() is PASSED
    assert bench.examined == [GPU.uuid]
    (ran,) = bench.ran
    assert ran["device"].execution.startswith("on a device: stand-in")
    assert ran["options"].limits["device_megabytes"] == 4_000
    assert ran["zygote"].profile.uuid == GPU.uuid


def test_one_submission_at_a_time_for_each_device(bench: Bench) -> None:
    let_go = held(GPU.uuid)
    bench.grade()
    assert bench.examined == [OTHER.uuid], "the first is somebody else's"
    other = held(OTHER.uuid)
    with pytest.raises(ReturnedError, match="in use"):
        bench.grade()
    assert bench.now >= WAIT_SECONDS
    let_go()
    other()
    bench.grade()
    assert bench.examined[-1] == GPU.uuid


def test_a_lock_is_held_while_a_submission_runs(bench: Bench) -> None:
    seen: list[str] = []

    def look() -> None:
        fleet = Fleet(lambda: [GPU], bench._examine, lambda: 0.0, no_warming)
        fleet.refresh()
        seen.append(fleet.reports()[0].state)

    bench.during = look
    bench.grade()
    assert seen == ["busy"]


def test_a_sick_device_is_left_out_and_the_next_one_taken(bench: Bench) -> None:
    bench.answers[GPU.uuid] = ["Xid 79"]
    assert bench.grade() is PASSED
    assert bench.examined == [GPU.uuid, OTHER.uuid]
    assert quarantine.reason(GPU.uuid) == "Xid 79"
    bench.grade()
    assert bench.examined == [GPU.uuid, OTHER.uuid, OTHER.uuid]


def test_the_next_submission_waits_until_memory_is_free(bench: Bench) -> None:
    full = FACTS.model_copy(update={"free_megabytes": 100})
    bench.answers[GPU.uuid] = [full, full, FACTS]
    assert bench.grade() is PASSED
    assert bench.examined == [GPU.uuid] * 3
    bench.there = [GPU]
    bench.answers[GPU.uuid] = [full]
    begun = bench.now
    with pytest.raises(ReturnedError):
        bench.grade()
    assert bench.now - begun >= DRAIN_SECONDS
    assert "100 of 10000 MB are free" in quarantine.reason(GPU.uuid)


def test_a_program_is_not_blamed_for_a_failing_device(bench: Bench) -> None:
    bench.there = [GPU]
    bench.graded = CRASHED
    assert bench.grade() is CRASHED, "the device works still, so it was the program"
    bench.answers[GPU.uuid] = [FACTS, "CUDA_ERROR_ECC_UNCORRECTABLE"]
    with pytest.raises(ReturnedError, match="failed while this submission ran"):
        bench.grade()
    assert "ECC" in quarantine.reason(GPU.uuid)
    with pytest.raises(ReturnedError, match="No GPU"):
        bench.grade()


def test_a_device_is_probed_before_a_verdict_that_precedes_the_naming(bench: Bench) -> None:
    bench.there, bench.graded = [GPU], CRASHED
    bench.during = lambda: bench.ran[-1]["options"].on_verdict(CRASHED)
    offered: list[Graded] = []
    assert bench.grade(offered.append) is CRASHED
    assert offered == [CRASHED]
    assert bench.examined == [GPU.uuid] * 2, "before the run and after it, and not once more"
    bench.answers[GPU.uuid] = [FACTS, "CUDA_ERROR_ECC_UNCORRECTABLE"]
    with pytest.raises(ReturnedError, match="failed while this submission ran"):
        bench.grade(offered.append)
    assert offered == [CRASHED], "no verdict of a device that failed"


def test_a_run_that_cannot_be_ended_quarantines_its_device(bench: Bench) -> None:
    bench.graded = SandboxError("The supervisor did not answer in time.")
    with pytest.raises(ReturnedError):
        bench.grade()
    assert "did not answer in time" in quarantine.reason(GPU.uuid)


def test_a_worker_without_devices_gives_a_job_back_at_once(bench: Bench) -> None:
    bench.there = []
    with pytest.raises(ReturnedError, match="has no GPU"):
        bench.grade()
    assert bench.now == 0.0


def test_a_quarantine_reaches_the_node_and_its_watch_lifts_it(bench: Bench) -> None:
    fleet = Fleet(lambda: [GPU], bench._examine, lambda: bench.now, no_warming)
    fleet.refresh()
    quarantine.put(GPU.uuid, "A run on it could not be ended.")
    fleet.refresh()
    (report,) = fleet.reports()
    assert (report.state, report.reason) == ("quarantined", "A run on it could not be ended.")
    bench.now += report.retry_in_seconds
    fleet.refresh()
    assert fleet.reports()[0].state == "ready"
    assert quarantine.reason(GPU.uuid) == ""


def test_a_worker_takes_no_jobs_while_no_device_works(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[tuple[str, str]] = []
    consumer = SimpleNamespace(
        cancel_task_queue=lambda queue: calls.append(("cancel", queue)),
        add_task_queue=lambda queue: calls.append(("add", queue)),
        call_soon=lambda call: call(),
    )
    intake = Intake(consumer)
    for why in ("", "It is sick.", "It is sick.", "It is gone.", ""):
        intake.follow(why)
    assert calls == [("cancel", QUEUE_GPU), ("add", QUEUE_GPU)]
    stays = "No GPU can be used: jobs stay in the queue for others."
    assert caplog.messages[:2] == [f"{stays} It is sick.", f"{stays} It is gone."]
    unwalled = Intake(consumer, isolated=False)
    unwalled.follow("")
    assert calls[2:] == [("cancel", QUEUE_GPU)]
    assert "level B" in caplog.messages[-1]


def test_the_reason_is_given_for_each_unusable_device(bench: Bench) -> None:
    fleet = Fleet(lambda: [GPU], bench._examine, lambda: bench.now, no_warming)
    assert "no NVIDIA device" in why_unusable(fleet.reports())
    fleet.refresh()
    quarantine.put(GPU.uuid, "Xid 79.")
    fleet.refresh()
    why = f"{GPU.name} ({GPU.uuid}) is in quarantine: Xid 79."
    assert why_unusable(fleet.reports()) == why
    bench.now += 60
    fleet.refresh()
    assert why_unusable(fleet.reports()) == ""


def test_celerys_deferred_calls_may_come_in_any_order() -> None:
    calls: list[str] = []
    soon: list[Any] = []
    consumer = SimpleNamespace(
        cancel_task_queue=lambda queue: calls.append("cancel"),
        add_task_queue=lambda queue: calls.append("add"),
        call_soon=soon.append,
    )
    intake = Intake(consumer)
    intake.follow("It is sick.")
    intake.follow("")
    for change in reversed(soon):
        change()
    assert calls == [], "it is open, and was not closed for a moment"
    intake.follow("It is sick.")
    soon[-1]()
    assert calls == ["cancel"]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    messages: list[tuple[str, dict[str, Any]]] = []

    def send(app: Any, task: str, message: Any, *, retry: bool) -> None:
        messages.append((task, message.to_message()))

    monkeypatch.setattr(reporter, "send", send)
    return messages


def test_the_task_answers_with_a_verdict_of_its_kind_or_gives_the_job_back(
    bench: Bench, sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "lane", bench.lane)
    tasks.grade.run(JOB.to_message())
    assert sent[-1][0] == TASK_RECORD_VERDICT
    assert (sent[-1][1]["kind"], sent[-1][1]["outcome"]) == ("device", "accepted")
    bench.there = []
    tasks.grade.run(JOB.to_message())
    assert sent[-1][0] == TASK_RECORD_RETURN
    assert sent[-1][1]["reason"] == "The worker that took this submission has no GPU."
    bench.there, bench.graded = [GPU], ZeroDivisionError("inner detail")
    tasks.grade.run(JOB.to_message())
    assert (sent[-1][0], sent[-1][1]["outcome"]) == (TASK_RECORD_VERDICT, "not_gradable")


# --- the watch over memory -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("seen", "over", "pauses"), [([10, 20, 31], True, 2), ([10, None], False, 1)]
)
def test_the_watch_reports_memory_beyond_the_limit(
    seen: list[int | None], over: bool, pauses: int
) -> None:
    paused: list[float] = []
    assert watch(lambda: seen.pop(0), 30, paused.append) is over
    assert paused == [LOOK_SECONDS] * pauses


def test_without_nvidias_library_the_watch_ends_silently() -> None:
    with MemoryWatch("GPU-1", 1) as watching:
        assert os.read(watching.descriptor, 10) == b""
