"""The worker's task answers every job that it can read, whatever happens."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from gpu_worker.judge import grading
from gpu_worker.messages.checks import CheckUpdate
from gpu_worker.messages.protocol import GradeJob, Phase, Progress, Returned, Track, Verdict
from gpu_worker.messages.queues import (
    TASK_RECORD_CHECK,
    TASK_RECORD_PROGRESS,
    TASK_RECORD_RETURN,
    TASK_RECORD_VERDICT,
)
from gpu_worker.sandbox.client import SandboxError
from gpu_worker.worker import offers as devices
from gpu_worker.worker import reporter, tasks

JOB = {
    "version": 1,
    "submission": "s1",
    "lease": "l1",
    "attempt": 1,
    "exercise": "rmsnorm",
    "track": "numpy",
    "source": "",
    "cases": "all",
}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What the worker sends, instead of a queue."""
    messages: list[tuple[str, dict[str, Any]]] = []

    def send(app: Celery, task: str, message: Any, *, retry: bool) -> None:
        messages.append((task, message.to_message()))

    monkeypatch.setattr(reporter, "send", send)
    return messages


@pytest.fixture(autouse=True)
def _close_zygote() -> Iterator[None]:
    yield
    tasks.zygote.close()


def verdicts(sent: list[tuple[str, dict[str, Any]]]) -> list[Verdict]:
    return [Verdict.from_message(m) for task, m in sent if task == TASK_RECORD_VERDICT]


def test_a_job_is_claimed_graded_and_answered(
    sent: list[tuple[str, dict[str, Any]]], right: str
) -> None:
    started = time.monotonic()
    tasks.grade.run({**JOB, "source": right})
    took = time.monotonic() - started
    (verdict,) = verdicts(sent)
    assert (verdict.submission, verdict.lease, verdict.outcome) == ("s1", "l1", "accepted")
    progress = [Progress.from_message(m) for task, m in sent if task == TASK_RECORD_PROGRESS]
    phases = list(dict.fromkeys(p.phase for p in progress))
    assert phases[:3] == [Phase.CLAIMED, Phase.SETTING_UP, Phase.RUNNING]
    # One for each phase of the two runs, and now and then one for a case, or a sign of life.
    assert len(progress) < 10 + 2 * took / reporter.MIN_SECONDS_BETWEEN_CASES
    assert sent[-1][0] == TASK_RECORD_VERDICT


@pytest.fixture
def wrong(right: str) -> str:
    """A program whose mathematics has a known mistake."""
    return right.replace("+ self.eps)", ")")


def test_the_verdict_is_sent_before_the_search_for_its_mistake(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    before: list[Verdict] = []
    look = grading.diagnose

    def looking(*args: Any) -> Any:
        before.extend(verdicts(sent))
        return look(*args)

    monkeypatch.setattr(grading, "diagnose", looking)
    tasks.grade.run({**JOB, "source": wrong})
    first, second = verdicts(sent)
    assert before == [first]
    assert (first.report.naming, first.report.mistakes, first.report.notes) == (True, [], [])
    assert (second.report.naming, [m.id for m in second.report.mistakes]) == (False, ["no-eps"])
    changed = {"mistakes", "naming", "notes", "timings"}
    kept = [v.model_dump(exclude={"report": changed}) for v in (first, second)]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("broken", ["the queue", "the search"])
def test_nothing_is_lost_where_the_early_verdict_or_the_search_fails(
    broken: str,
    sent: list[tuple[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    wrong: str,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("gone")

    if broken == "the queue":
        keep = reporter.send

        def send(app: Celery, task: str, message: Any, *, retry: bool) -> None:
            if task == TASK_RECORD_VERDICT and not retry:
                raise OperationalError("gone")
            keep(app, task, message, retry=retry)

        monkeypatch.setattr(reporter, "send", send)
    else:
        monkeypatch.setattr(grading, "diagnose", fail)
    tasks.grade.run({**JOB, "source": wrong})
    last = verdicts(sent)[-1]
    assert (last.outcome, last.report.naming) == ("wrong_answer", False)
    assert len(verdicts(sent)) == (1 if broken == "the queue" else 2)
    assert bool(last.report.mistakes) == (broken == "the queue")


def test_a_passing_program_gets_one_verdict(
    sent: list[tuple[str, dict[str, Any]]], right: str
) -> None:
    tasks.grade.run({**JOB, "source": right, "cases": "public"})
    (verdict,) = verdicts(sent)
    assert not verdict.report.naming


def test_a_long_job_sends_heartbeats(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEARNML_HEARTBEAT_SECONDS", "0.1")
    tasks.grade.run({**JOB, "source": "import time\ntime.sleep(2)\n"})
    assert sum(task == TASK_RECORD_PROGRESS for task, _ in sent) > 6


@pytest.mark.parametrize("message", [None, 1, "junk", [], {}, {"submission": "s"}], ids=str)
def test_a_message_without_a_sender_is_dropped(
    message: object, sent: list[tuple[str, dict[str, Any]]]
) -> None:
    tasks.grade.run(message)
    assert sent == []


def test_a_message_with_a_sender_is_answered_even_if_it_is_not_a_job(
    sent: list[tuple[str, dict[str, Any]]],
) -> None:
    tasks.grade.run({"submission": "s9", "lease": "l9", "version": 7})
    (verdict,) = verdicts(sent)
    assert (verdict.submission, verdict.lease, verdict.outcome) == ("s9", "l9", "not_gradable")
    tasks.grade.run({"submission": "not an id!", "lease": "l9"})
    assert len(verdicts(sent)) == 1
    # The site takes a verdict for no other kind than the job's.
    for kind in ("device", "functional", 5):
        tasks.grade.run({"submission": "s9", "lease": "l9", "version": 7, "kind": kind})
    assert [item.kind for item in verdicts(sent)[1:]] == ["device", "functional", "functional"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"exercise": "no_such_exercise"}, "no_such_exercise"), ({"track": "cupy"}, "cupy")],
)
def test_jobs_that_this_worker_cannot_grade_are_our_fault(
    change: dict[str, str],
    reason: str,
    sent: list[tuple[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "gradable_tracks", lambda queue: [Track.NUMPY])
    tasks.grade.run({**JOB, **change})
    (verdict,) = verdicts(sent)
    assert verdict.outcome == "not_gradable"
    assert verdict.report.failure is not None
    assert reason in verdict.report.failure.message


def test_a_failing_sandbox_is_tried_twice_and_is_then_our_fault(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch, right: str
) -> None:
    tries = []

    def fail(*_: object, **__: object) -> None:
        tries.append(1)
        raise SandboxError("gone")

    monkeypatch.setattr(tasks, "grade_source", fail)
    tasks.grade.run({**JOB, "source": right})
    assert len(tries) == 2
    assert verdicts(sent)[0].outcome == "not_gradable"


def test_an_error_of_ours_is_answered_without_its_details(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("inner detail")

    monkeypatch.setattr(tasks, "grade_source", fail)
    tasks.grade.run(JOB)
    (verdict,) = verdicts(sent)
    assert verdict.outcome == "not_gradable"
    assert "inner detail" not in verdict.model_dump_json()


def test_every_answer_carries_the_kind_of_its_job(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def grade_nothing(*_: object, **__: object) -> tasks.Graded:
        return tasks.not_gradable("Nothing is graded here.")

    monkeypatch.setattr(tasks, "grade_source", grade_nothing)
    for kind in ("functional", "device"):
        sent.clear()
        tasks.grade.run({**JOB, "kind": kind})
        assert {message["kind"] for _, message in sent} == {kind}


def test_a_job_is_given_back_with_its_reason(sent: list[tuple[str, dict[str, Any]]]) -> None:
    job = GradeJob.from_message({**JOB, "kind": "device"})
    reporter.send_returned(Celery(), job, "The device is gone. " * 1_000)
    ((task, message),) = sent
    returned = Returned.from_message(message)
    assert task == TASK_RECORD_RETURN
    assert (returned.submission, returned.lease, returned.kind) == ("s1", "l1", "device")
    assert returned.reason.startswith("The device is gone.")


def test_a_check_is_answered_and_a_redelivered_one_is_not_started(
    sent: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = {"version": 1, "check": "c1", "lease": "l1", "exercise": "nothing", "first": 3}
    job["digest"] = "d1"
    tasks.check.run("junk")
    tasks.check.run(job)
    monkeypatch.setattr(tasks, "_came_back", lambda task: True)
    tasks.check.run(job)
    assert [task for task, _ in sent] == [TASK_RECORD_CHECK] * 2
    unknown, came_back = (CheckUpdate.from_message(message) for _, message in sent)
    assert (unknown.check, unknown.lease, unknown.first) == ("c1", "l1", 3)
    assert "nothing" in unknown.failure
    assert came_back.came_back
    assert not came_back.failure
