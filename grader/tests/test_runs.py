"""Runs: queued one at a time, answered under their lease, ended without an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from gpu_worker.messages import runs as protocol_runs
from grader import services
from grader.models import CodeRun, Exercise, RunKind, RunOutcome, RunState
from grader.services.errors import Refused, TooMany
from grader.tasks import end_runs
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.messages import worker

pytestmark = pytest.mark.postgres

Start = Callable[..., CodeRun]


@pytest.fixture
def start(learner: User, django_capture_on_commit_callbacks: Callable[..., Any]) -> Start:
    def call(source: str = "print(1)\n", user: User = learner, **fields: Any) -> CodeRun:
        with django_capture_on_commit_callbacks(execute=True):
            run = services.start_run(user, source, **fields)
        run.refresh_from_db()
        return run

    return call


def answer(run: CodeRun, outcome: str | None = "completed", **report: Any) -> None:
    message = {"version": 1, "run": run.public_id, "lease": run.lease, "node": "node-1"}
    worker.record_run({**message, "outcome": outcome, "report": report})
    run.refresh_from_db()


class TestStarting:
    def test_a_program_is_queued_with_all_that_a_worker_needs(
        self, start: Start, broker: FakeBroker
    ) -> None:
        run = start("print('é')\n")
        job = protocol_runs.RunJob.from_message(broker.runs[0])
        assert (job.run, job.lease, job.kind) == (run.public_id, run.lease, "code")
        assert (job.source, job.exercise) == ("print('é')\n", None)
        assert 50 < job.expires_at - time.time() <= 60
        assert broker.run_queues == [("cpu", 0)]
        assert "learner" not in str(broker.runs)

    def test_public_cases_name_their_exercise_and_make_no_submission(
        self, start: Start, exercise: Exercise, broker: FakeBroker, learner: User
    ) -> None:
        run = start(SOURCE, exercise=exercise)
        assert run.kind == RunKind.PUBLIC_CASES
        assert broker.runs[0]["exercise"] == "rmsnorm"
        assert broker.sent == []
        assert not learner.submissions.exists()

    def test_one_runs_at_a_time_whatever_the_database_locks(
        self, start: Start, learner: User
    ) -> None:
        first = start()
        with pytest.raises(TooMany, match="one runs at a time"):
            start()
        with pytest.raises(IntegrityError), transaction.atomic():
            CodeRun.objects.create(user=learner, kind=RunKind.CODE, source="x")
        answer(first)
        assert start().state == RunState.QUEUED

    def test_too_many_within_a_minute_are_refused_with_the_time_to_wait(
        self, start: Start, settings: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "RUNS_PER_MINUTE": 2}
        for _ in range(2):
            answer(start())
        with pytest.raises(TooMany, match="2 times within a minute") as caught:
            start()
        assert 0 < caught.value.retry_after_seconds <= 61
        CodeRun.objects.update(created_at=timezone.now() - timedelta(seconds=61))
        start()

    def test_frequent_runs_lose_priority_but_stay_ahead_of_regrades(
        self, start: Start, broker: FakeBroker, settings: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "RUNS_PER_MINUTE": 100}
        for _ in range(30):
            answer(start())
        priorities = [priority for _, priority in broker.run_queues]
        assert priorities == sorted(priorities)
        assert (priorities[0], priorities[4], priorities[-1]) == (0, 1, 5)

    @pytest.mark.parametrize("source", ["", "  \n", "x = '\0'", "#" * 70_000])
    def test_an_invalid_source_is_refused(self, start: Start, source: str) -> None:
        with pytest.raises(Refused):
            start(source)
        assert not CodeRun.objects.exists()

    def test_without_a_queue_it_ends_at_once_and_can_be_run_again(
        self, start: Start, broker: FakeBroker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def down(*_: object) -> None:
            raise services.broker.BrokerUnreachable("connection refused")

        monkeypatch.setattr(broker, "send", down)
        run = start()
        assert (run.state, run.outcome) == (RunState.FINISHED, RunOutcome.NOT_RUN)
        assert "cannot be reached" in run.report["failure"]["message"]
        monkeypatch.undo()
        assert start().state == RunState.QUEUED


class TestAnswers:
    def test_a_worker_takes_it_and_answers(self, start: Start) -> None:
        run = start()
        answer(run, None)
        assert (run.state, run.node) == (RunState.RUNNING, "node-1")
        answer(run, "runtime_error", output="a\0b", failure={"message": "no", "line": 3})
        assert (run.state, run.outcome) == (RunState.FINISHED, RunOutcome.RUNTIME_ERROR)
        assert run.report["output"] == "a\ufffdb"
        assert run.report["failure"]["line"] == 3

    def test_only_the_lease_counts_and_only_once(self, start: Start) -> None:
        run = start()
        message = {"version": 1, "run": run.public_id, "node": "n", "outcome": "completed"}
        worker.record_run({**message, "lease": "0" * 32})
        run.refresh_from_db()
        assert run.state == RunState.QUEUED
        answer(run, "completed", output="first")
        answer(run, "runtime_error", output="second")
        answer(run, None)
        assert (run.outcome, run.report["output"]) == ("completed", "first")

    @pytest.mark.parametrize("message", [None, 1, [], {}, {"run": "x"}], ids=str)
    def test_junk_changes_nothing(self, start: Start, message: object) -> None:
        run = start()
        worker.record_run(message)
        run.refresh_from_db()
        assert run.state == RunState.QUEUED

    def test_a_silent_worker_ends_the_run_and_its_late_answer_changes_nothing(
        self, start: Start, learner: User
    ) -> None:
        run = start()
        answer(run, None)
        assert end_runs() == 0
        CodeRun.objects.update(started_at=timezone.now() - timedelta(seconds=26))
        assert end_runs() == 1
        answer(run)
        assert run.outcome == RunOutcome.NOT_RUN
        assert "was lost" in run.report["failure"]["message"]
        assert start().state == RunState.QUEUED

    def test_a_run_that_no_worker_takes_blocks_no_later_one(self, start: Start) -> None:
        run = start()
        CodeRun.objects.update(created_at=timezone.now() - timedelta(seconds=61))
        start()
        run.refresh_from_db()
        assert run.outcome == RunOutcome.NOT_RUN

    def test_runs_are_deleted_after_a_day_and_open_ones_are_not(
        self, start: Start, learner: User, other: User
    ) -> None:
        run = start()
        answer(run)
        CodeRun.objects.update(finished_at=timezone.now() - timedelta(hours=25))
        kept = start(user=other)
        assert services.purge_runs() == 1
        assert CodeRun.objects.get() == kept


class TestPages:
    @pytest.fixture
    def signed_in(self, client: Client, learner: User) -> Client:
        client.force_login(learner)
        return client

    def post(self, client: Client, exercise: Exercise, source: str = SOURCE, **headers: str) -> Any:
        url = reverse("grader:run_public_cases", args=[exercise.slug])
        return client.post(url, {"source": source, "track": "numpy"}, headers=headers)

    def test_a_post_leads_to_the_runs_page_and_a_script_gets_a_fragment(
        self, signed_in: Client, exercise: Exercise
    ) -> None:
        response = self.post(signed_in, exercise, "x = 1\r\n")
        run = CodeRun.objects.get()
        assert (response.status_code, response["Location"]) == (303, run.get_absolute_url())
        assert run.source == "x = 1\n"
        services.end_late_runs(timezone.now() + timedelta(hours=1))
        response = self.post(signed_in, exercise, **{"X-Requested-With": "fetch"})
        assert response.status_code == 201
        assert b"data-run-result" in response.content
        assert b"<html" not in response.content

    def test_visitors_are_told_to_sign_in(self, client: Client, exercise: Exercise) -> None:
        response = self.post(client, exercise, **{"X-Requested-With": "fetch"})
        assert response.status_code == 401
        assert b"Sign in" in response.content
        assert not CodeRun.objects.exists()

    def test_the_page_shows_output_escaped_and_the_failing_line(
        self, signed_in: Client, start: Start
    ) -> None:
        run = start("x = 1\nboom()\n")
        page = signed_in.get(run.get_absolute_url()).content.decode()
        assert 'http-equiv="refresh"' in page
        failure = {"message": "NameError in line 2", "line": 2, "traceback": "Trace <here>"}
        answer(run, "runtime_error", output="<script>alert(1)</script>", failure=failure)
        page = signed_in.get(run.get_absolute_url()).content.decode()
        assert "&lt;script&gt;alert(1)" in page
        assert "Trace &lt;here&gt;" in page
        assert 'data-line="2"' in page
        assert '<code translate="no">boom()</code>' in page
        assert 'http-equiv="refresh"' not in page

    def test_cases_are_shown_one_by_one(
        self, signed_in: Client, start: Start, exercise: Exercise
    ) -> None:
        run = start(SOURCE, exercise=exercise)
        cases = [
            {"id": "a", "title": "First case", "passed": True},
            {"id": "b", "title": "Second", "passed": False, "failure": {"message": "y is off."}},
            {"id": "c", "title": "Third", "passed": None},
        ]
        answer(run, "wrong_answer", cases=cases)
        page = signed_in.get(run.get_absolute_url() + "?fragment=1").content.decode()
        assert "1 of 3 public cases passed" in page
        assert page.index("First case") < page.index("y is off.") < page.index("Not run")

    def test_only_its_owner_sees_a_run(
        self, client: Client, start: Start, other: User, grader: User
    ) -> None:
        run = start()
        client.force_login(other)
        assert client.get(run.get_absolute_url()).status_code == 404
        client.force_login(grader)
        assert client.get(run.get_absolute_url()).status_code == 404

    def test_looking_at_it_ends_a_run_that_was_lost(self, signed_in: Client, start: Start) -> None:
        run = start()
        CodeRun.objects.update(created_at=timezone.now() - timedelta(seconds=61))
        page = signed_in.get(run.get_absolute_url() + "?fragment=1").content.decode()
        assert 'data-final="true"' in page
        assert "No worker was free" in page

    def test_a_refused_run_says_why_and_keeps_the_text(
        self, signed_in: Client, exercise: Exercise, start: Start
    ) -> None:
        start()
        response = self.post(signed_in, exercise, "# keep me")
        assert response.status_code == 429
        assert response["Retry-After"]
        text = response.content.decode()
        assert "one runs at a time" in text
        assert "# keep me" in text
        response = self.post(signed_in, exercise, **{"X-Requested-With": "fetch"})
        assert response.status_code == 429
        assert b"one runs at a time" in response.content
