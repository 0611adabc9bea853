"""Repeating a second verdict: by graders always, by learners where it is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from gpu_worker.messages.queues import PRIORITY_LEARNER, PRIORITY_REGRADE
from grader import events, queries, services
from grader.models import AuditEntry, Submission
from grader.services.errors import NoSecondVerdict, NotAllowed, TooMany

from .calls import ROOT, Api, Submit, assert_problem
from .conftest import FakeBroker
from .messages import (
    attempt_of,
    from_a_gpu_node,
    grade_on_cpu,
    grade_on_gpu,
    progress,
    returned,
    worker,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def stored(submission: Submission) -> Submission:
    return Submission.objects.select_related("second").get(pk=submission.pk)


@pytest.fixture
def graded(kernels: Submit) -> Submission:
    """Graded by both, and wrong on a GPU that was failing."""
    submission = kernels()
    grade_on_cpu(submission)
    grade_on_gpu(submission, "wrong_answer")
    return submission


@pytest.fixture
def ask(grader: User, committed: Any) -> Callable[[Submission], bool]:
    def call(submission: Submission) -> bool:
        return bool(committed(services.ask_second_again, grader, submission))

    return call


class TestAGrader:
    def test_has_it_graded_anew_and_what_counts_stays(
        self, graded: Submission, ask: Any, broker: FakeBroker
    ) -> None:
        before = stored(graded)
        broker.sent.clear()
        assert ask(graded)
        assert [(job["kind"], job["submission"]) for job in broker.sent] == [
            ("device", graded.public_id)
        ]
        now = stored(graded)
        assert (now.second.state, now.second.outcome, now.second.report) == ("queued", None, {})
        grade_on_gpu(graded)
        now = stored(graded)
        assert now.second.outcome == "accepted"
        assert (now.version, now.outcome, now.score) == (before.version, "accepted", before.score)

    def test_asking_while_it_is_awaited_changes_nothing(
        self, graded: Submission, ask: Any, broker: FakeBroker
    ) -> None:
        assert ask(graded)
        sent, version = len(broker.sent), stored(graded).second.version
        assert not ask(graded)
        assert not ask(graded)
        assert len(broker.sent) == sent
        assert stored(graded).second.version == version
        assert graded.attempts.filter(kind="device").count() == 2
        assert AuditEntry.objects.filter(action="second_verdict.asked").count() == 1

    def test_is_on_record_with_what_it_was(
        self, graded: Submission, ask: Any, grader: User
    ) -> None:
        told = events.events_of(stored(graded))
        ask(graded)
        entry = AuditEntry.objects.get(action="second_verdict.asked")
        assert (entry.actor, entry.target) == (grader, f"submission:{graded.public_id}")
        assert entry.detail == {"kind": "device", "attempt": 2}
        assert entry.before == {"state": "finished", "outcome": "wrong_answer", "score": 0.25}
        assert entry.after == {"state": "queued", "outcome": None, "score": None}
        grade_on_gpu(graded)
        again = events.events_of(stored(graded))
        assert again[: len(told)] == told
        scores = [event.detail["score"] for event in again if event.kind == "graded"]
        assert scores == [1.0, 0.25, 1.0]

    def test_has_a_closed_exercise_graded_too(self, graded: Submission, ask: Any) -> None:
        graded.exercise.accepts_submissions = False
        graded.exercise.save()
        assert ask(graded)

    def test_is_told_where_there_is_one_verdict(self, submit: Submit, ask: Any) -> None:
        with pytest.raises(NoSecondVerdict):
            ask(submit())


class TestALearner:
    def test_asks_for_what_could_not_be_graded_and_for_nothing_else(
        self, graded: Submission, kernels: Submit, learner: User, committed: Any
    ) -> None:
        with pytest.raises(NotAllowed):
            services.ask_second_again(learner, graded)
        failed = kernels("x = 2")
        grade_on_cpu(failed)
        grade_on_gpu(failed, "not_gradable", report={})
        committed(services.resubmit, learner, failed)
        assert stored(failed).second.state == "queued"
        assert AuditEntry.objects.get().action == "submission.resubmitted"

    def test_asks_for_a_few_at_once(
        self, kernels: Submit, learner: User, settings: Any, committed: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 1}
        failed = []
        for number in (1, 2):
            failed.append(kernels(f"x = {number}"))
            grade_on_cpu(failed[-1])
            grade_on_gpu(failed[-1], "not_gradable", report={})
        committed(services.resubmit, learner, failed[0])
        with pytest.raises(TooMany, match="second verdicts"):
            services.resubmit(learner, failed[-1])
        assert stored(failed[-1]).second.state == "finished"


class TestItsTurn:
    def test_first_gradings_go_before_it(
        self, graded: Submission, ask: Any, kernels: Submit, other: User, broker: FakeBroker
    ) -> None:
        ask(graded)
        assert broker.queues[-1] == ("gpu", PRIORITY_REGRADE)
        first = kernels("y = 1", user=other)
        assert broker.queues[-1] == ("gpu", PRIORITY_LEARNER)
        assert queries.queue_position(first, "device") == 1
        assert queries.queue_position(graded, "device") == 2

    def test_it_takes_no_place_of_its_learners_own(
        self, graded: Submission, ask: Any, kernels: Submit, broker: FakeBroker
    ) -> None:
        ask(graded)
        new = [kernels(f"x = {number}") for number in (1, 2)]
        sent = [job["submission"] for job in broker.sent if job["kind"] == "device"]
        assert sent[-2:] == [submission.public_id for submission in new]

    def test_few_are_on_the_queue_at_once_and_each_end_sends_the_next(
        self, kernels: Submit, ask: Any, settings: Any, broker: FakeBroker, committed: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "REGRADES_ON_QUEUE": 1}
        both = [kernels(f"x = {number}") for number in (1, 2)]
        for submission in both:
            grade_on_cpu(submission)
            grade_on_gpu(submission)
        broker.sent.clear()
        assert [ask(submission) for submission in both] == [True, True]
        assert [job["submission"] for job in broker.sent] == [both[0].public_id]
        assert queries.queue_position(both[1], "device") == 2
        committed(grade_on_gpu, both[0])
        assert [job["submission"] for job in broker.sent] == [s.public_id for s in both]

    def test_a_newer_submission_does_not_replace_it(
        self, graded: Submission, ask: Any, kernels: Submit, broker: FakeBroker
    ) -> None:
        broker.down = True
        ask(graded)
        broker.down = False
        kernels("x = 2")
        assert stored(graded).second.state == "queued"

    def test_a_node_that_gives_it_back_leaves_it_behind_first_gradings(
        self, graded: Submission, ask: Any, committed: Any, broker: FakeBroker
    ) -> None:
        ask(graded)
        worker.record_progress(from_a_gpu_node(progress(graded), graded))
        committed(worker.record_return, returned(graded))
        again = attempt_of(graded, "device")
        assert (again.returns, again.priority) == (1, PRIORITY_REGRADE)
        assert broker.queues[-1] == ("gpu", PRIORITY_REGRADE)


class TestOverRest:
    def url(self, submission: Submission) -> str:
        return f"{ROOT}/submissions/{submission.public_id}/second-verdict/"

    def test_a_grader_asks_as_often_as_the_network_needs(
        self, graded: Submission, api: Api, grader: User
    ) -> None:
        client = api(grader, "read", "grade")
        for _ in range(2):
            answer = client.post(self.url(graded))
            assert answer.status_code == 202
            body = answer.json()
            assert (body["outcome"], body["second_verdict"]["state"]) == ("accepted", "queued")
        assert graded.attempts.filter(kind="device").count() == 2

    def test_others_and_other_tracks_are_refused(
        self, graded: Submission, submit: Submit, api: Api, grader: User, learner: User
    ) -> None:
        assert_problem(api(learner, "read", "submit").post(self.url(graded)), 403)
        reader = api(grader, "read")
        assert_problem(reader.post(self.url(graded)), 403)
        client = api(grader, "read", "grade")
        assert_problem(client.post(self.url(submit("x = 9"))), 409, "no_second_verdict")


class TestInTheAdmin:
    def post(self, client: Client, page: str, keys: list[int]) -> str:
        data = {"action": "ask_again", "_selected_action": keys}
        return client.post(f"/admin/grader/{page}/", data, follow=True).content.decode()

    def test_of_chosen_submissions(
        self, client: Client, graded: Submission, submit: Submit, grader: User
    ) -> None:
        client.force_login(grader)
        address = "/admin/grader/submission/?second="
        assert graded.public_id in client.get(f"{address}wrong_answer").content.decode()
        assert graded.public_id not in client.get(f"{address}awaited").content.decode()
        keys = [graded.pk, submit("x = 9").pk]
        text = self.post(client, "submission", keys)
        assert "1 asked for; 1 without a second verdict." in text
        assert "1 awaited already; 1 without" in self.post(client, "submission", keys)
        assert graded.public_id in client.get(f"{address}awaited").content.decode()
        assert stored(graded).second.state == "queued"

    def test_of_all_that_a_repaired_node_had(
        self, client: Client, graded: Submission, grader: User
    ) -> None:
        client.force_login(grader)
        page = client.get("/admin/grader/gradingattempt/?node=gpu-node&kind__exact=device")
        assert graded.public_id in page.content.decode()
        text = self.post(client, "gradingattempt", [attempt_of(graded, "device").pk])
        assert "1 asked for." in text
        assert stored(graded).second.state == "queued"

    def test_who_only_looks_has_no_such_action(
        self, client: Client, graded: Submission, grader: User
    ) -> None:
        own = grader.user_permissions
        own.remove(own.get(codename="change_submission"))
        client.force_login(grader)
        for page, key in (("submission", graded.pk), ("gradingattempt", attempt_of(graded).pk)):
            assert "Ask for the second" not in self.post(client, page, [key])
        assert stored(graded).second.state == "finished"
