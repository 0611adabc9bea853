"""One submission, a verdict from a processor and one from a GPU: each with a life of its own.

No GPU node is here: what one would send is written out in `messages`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from courses.models import RequirementMet
from gpu_worker.messages.protocol import Progress, Verdict
from grader import events, limits, queries, services
from grader.models import (
    AttemptState,
    GradingAttempt,
    NodeKind,
    OutboxMessage,
    Outcome,
    SecondVerdict,
    Submission,
)
from grader.services import Recorded
from grader.services.errors import NotResubmittable

from .conftest import FakeBroker
from .messages import (
    attempt_of,
    from_a_gpu_node,
    grade_on_cpu,
    grade_on_gpu,
    progress,
    returned,
    verdict,
    worker,
)

pytestmark = pytest.mark.django_db
Submit = Callable[..., Submission]


def stored(submission: Submission) -> Submission:
    return Submission.objects.select_related("second").get(pk=submission.pk)


def outcomes(submission: Submission) -> tuple[str | None, str | None]:
    now = stored(submission)
    return now.outcome, now.second.outcome


def test_a_submission_of_kernels_gives_a_job_for_each_kind_of_node(
    kernels: Submit, broker: FakeBroker
) -> None:
    submission = stored(kernels())
    assert [job["kind"] for job in broker.sent] == ["functional", "device"]
    assert [queue for queue, _ in broker.queues] == ["cpu", "gpu"]
    first, second = broker.sent
    assert first["lease"] != second["lease"]
    same = ("submission", "source", "track", "exercise", "attempt", "cases")
    assert [first[name] for name in same] == [second[name] for name in same]
    assert (submission.kind, submission.second.kind) == ("functional", "device")


def test_other_submissions_have_one_verdict(submit: Submit, broker: FakeBroker) -> None:
    submission = submit()
    assert [job["kind"] for job in broker.sent] == ["functional"]
    assert not SecondVerdict.objects.exists()
    assert submission.kind == "functional"


def test_the_processors_verdict_holds_while_the_devices_is_awaited(kernels: Submit) -> None:
    submission = kernels()
    grade_on_cpu(submission)
    assert outcomes(submission) == ("accepted", None)
    assert RequirementMet.objects.count() == 1
    version = stored(submission).version
    worker.record_progress(from_a_gpu_node(progress(submission, case=3, cases=9), submission))
    second = stored(submission).second
    assert (second.state, second.case, second.cases) == ("running", 3, 9)
    grade_on_gpu(submission, "wrong_answer")
    now = stored(submission)
    assert outcomes(submission) == ("accepted", "wrong_answer")
    assert (now.score, now.second.score, now.version) == (1.0, 0.25, version)
    assert now.second.report["mistakes"]
    assert not now.report["mistakes"]
    assert RequirementMet.objects.count() == 1


@pytest.mark.parametrize("outcome", ["accepted", "wrong_answer"])
def test_a_devices_acceptance_alone_meets_nothing(kernels: Submit, outcome: str) -> None:
    submission = kernels()
    grade_on_gpu(submission)
    assert outcomes(submission) == (None, "accepted")
    assert not RequirementMet.objects.exists()
    grade_on_cpu(submission, outcome)
    assert outcomes(submission) == (outcome, "accepted")
    assert RequirementMet.objects.exists() == (outcome == "accepted")


@pytest.mark.usefixtures("device_required")
def test_where_a_device_is_required_its_verdict_counts(kernels: Submit, broker: FakeBroker) -> None:
    submission = kernels()
    assert {job["kind"] for job in broker.sent} == {"functional", "device"}
    grade_on_cpu(submission)
    now = stored(submission)
    assert (now.kind, now.second.kind) == ("device", "functional")
    assert (now.state, now.second.outcome) == ("queued", "accepted")
    assert not RequirementMet.objects.exists()
    grade_on_gpu(submission)
    assert outcomes(submission) == ("accepted", "accepted")
    assert RequirementMet.objects.count() == 1


def test_what_counts_stays_what_it_was_when_the_operator_changes_his_mind(
    kernels: Submit, request: pytest.FixtureRequest
) -> None:
    submission = kernels()
    request.getfixturevalue("device_required")
    grade_on_gpu(submission)
    assert outcomes(submission) == (None, "accepted")
    grade_on_cpu(submission)
    assert outcomes(submission) == ("accepted", "accepted")


class TestMessages:
    def test_a_processors_verdict_is_none_of_a_device(
        self, kernels: Submit, broker: FakeBroker, committed: Any
    ) -> None:
        submission = kernels()
        message = from_a_gpu_node(verdict(submission), submission)
        posing = Verdict.from_message({**message, "kind": "functional"})
        assert committed(services.record_verdict, posing) is Recorded.REJECTED
        assert outcomes(submission) == (None, None)
        again = attempt_of(submission, "device")
        assert (again.try_number, again.queue) == (2, "gpu")
        assert broker.sent[-1]["lease"] == again.lease
        lost = submission.attempts.get(kind="device", number=2)
        assert "functional, and device was asked for" in lost.end_reason

    def test_progress_of_the_other_kind_changes_nothing(self, kernels: Submit) -> None:
        submission = kernels()
        message = from_a_gpu_node(progress(submission), submission)
        posing = Progress.from_message({**message, "kind": "functional"})
        assert services.record_progress(posing) is Recorded.STALE
        assert stored(submission).second.state == "queued"

    def test_verdicts_that_come_twice_or_late_change_nothing(self, kernels: Submit) -> None:
        submission = kernels()
        message = from_a_gpu_node(verdict(submission), submission)
        grade_on_gpu(submission)
        before = SecondVerdict.objects.values().get()
        again = Verdict.from_message({**message, "outcome": "wrong_answer", "score": 0.0})
        assert services.record_verdict(again) is Recorded.STALE
        assert SecondVerdict.objects.values().get() == before

    def test_attempts_of_both_kinds_are_numbered_together(self, kernels: Submit) -> None:
        submission = kernels()
        numbers = submission.attempts.order_by("number").values_list("number", "kind")
        assert list(numbers) == [(1, "functional"), (2, "device")]


class TestReturned:
    def test_a_node_that_lost_its_device_gives_the_job_to_the_next(
        self, kernels: Submit, broker: FakeBroker, learner: User, committed: Any
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        worker.record_progress(from_a_gpu_node(progress(submission), submission))
        given_back = attempt_of(submission, "device")
        late = from_a_gpu_node(verdict(submission), submission)
        committed(worker.record_return, returned(submission))
        given_back.refresh_from_db()
        assert (given_back.state, given_back.outcome) == ("returned", "not_gradable")
        assert (given_back.end_reason, given_back.node) == ("Its GPU is gone.", "gpu-node")
        again = attempt_of(submission, "device")
        assert (again.try_number, again.returns, again.queue) == (1, 1, "gpu")
        assert broker.sent[-1]["lease"] == again.lease != given_back.lease
        second = stored(submission).second
        assert (second.state, second.phase, second.outcome) == ("queued", "", None)
        assert queries.counted_attempts(learner, submission.exercise) == 1
        assert services.record_verdict(Verdict.from_message(late)) is Recorded.STALE
        grade_on_gpu(submission)
        assert outcomes(submission) == ("accepted", "accepted")

    def test_it_is_given_back_once_however_often_the_message_comes(
        self, kernels: Submit, committed: Any
    ) -> None:
        submission = kernels()
        message = returned(submission)
        committed(worker.record_return, message)
        committed(worker.record_return, message)
        assert submission.attempts.filter(kind="device").count() == 2

    def test_given_back_once_more_it_waits_until_its_node_may_have_noticed(
        self, kernels: Submit, broker: FakeBroker, committed: Any
    ) -> None:
        submission = kernels()
        committed(worker.record_return, returned(submission))
        broker.sent.clear()
        committed(worker.record_return, returned(submission))
        assert services.send_outbox() == 0
        message = OutboxMessage.objects.get(attempt=attempt_of(submission, "device"))
        assert message.locked_until is not None
        waits = message.locked_until - timezone.now()
        assert timedelta(seconds=10) < waits <= limits.return_pause(2)
        OutboxMessage.objects.filter(pk=message.pk).update(locked_until=timezone.now())
        assert services.send_outbox() == 1
        assert [job["submission"] for job in broker.sent] == [submission.public_id]

    def test_a_device_may_be_away_for_minutes_before_a_job_is_given_up(self) -> None:
        pauses = [limits.return_pause(number) for number in range(limits.max_returns() + 1)]
        # A node looks after its devices every 10 s, and a probe that hangs is given up after 60 s.
        assert pauses[:2] == [timedelta(0)] * 2
        assert pauses[2] > timedelta(seconds=10)
        assert sum(pauses, timedelta(0)) > timedelta(minutes=3)

    def test_it_does_not_go_round_for_ever(self, kernels: Submit, committed: Any) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        for _ in range(limits.max_returns() + 1):
            assert outcomes(submission) == ("accepted", None)
            committed(worker.record_return, returned(submission))
        assert outcomes(submission) == ("accepted", "not_gradable")
        message = stored(submission).second.report["failure"]["message"]
        assert message.startswith("This submission was given back 6 times by the nodes")
        assert "Its GPU is gone. This is not your fault" in message
        assert set(submission.attempts.filter(kind="device").values_list("try_number")) == {(1,)}

    def test_what_is_no_such_message_is_left(self, kernels: Submit) -> None:
        submission = kernels()
        worker.record_return({**returned(submission), "reason": ""})
        worker.record_return(None)
        assert attempt_of(submission, "device").state == AttemptState.QUEUED


class TestLost:
    def sweep(self, submission: Submission, committed: Any) -> None:
        silent_since = timezone.now() - limits.heartbeat_timeout() - timedelta(seconds=1)
        worker.record_progress(from_a_gpu_node(progress(submission), submission))
        submission.attempts.filter(state="running").update(heartbeat_at=silent_since)
        committed(services.requeue_lost)

    def test_a_silent_gpu_node_costs_tries_of_its_kind_alone(
        self, kernels: Submit, learner: User, committed: Any, broker: FakeBroker
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission)
        for _ in range(limits.max_grading_attempts()):
            assert outcomes(submission) == ("accepted", None)
            self.sweep(submission, committed)
        assert outcomes(submission) == ("accepted", "not_gradable")
        broker.sent.clear()
        committed(services.resubmit, learner, submission)
        assert [job["kind"] for job in broker.sent] == ["device"]
        assert outcomes(submission) == ("accepted", None)
        grade_on_gpu(submission)
        assert outcomes(submission) == ("accepted", "accepted")
        with pytest.raises(NotResubmittable):
            services.resubmit(learner, submission)

    def test_both_are_sent_again_where_both_failed(
        self, kernels: Submit, learner: User, committed: Any, broker: FakeBroker
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission, "not_gradable")
        grade_on_gpu(submission, "not_gradable")
        broker.sent.clear()
        committed(services.resubmit, learner, submission)
        assert [job["kind"] for job in broker.sent] == ["functional", "device"]


class TestTurns:
    def test_learners_are_served_in_turn_on_the_gpus_queue_too(
        self, kernels: Submit, other: User, broker: FakeBroker, committed: Any
    ) -> None:
        mine = [kernels(f"x = {number}") for number in range(3)]
        theirs = kernels("y = 1", user=other)

        def on_gpu() -> list[str]:
            return [job["submission"] for job in broker.sent if job["kind"] == "device"]

        assert on_gpu() == [mine[0].public_id, mine[1].public_id, theirs.public_id]
        places = [queries.queue_position(s, "device") for s in (*mine, theirs)]
        assert places == [1, 2, 4, 3]
        committed(grade_on_gpu, mine[0])
        assert on_gpu()[-1] == mine[2].public_id

    def test_a_newer_submission_takes_the_place_of_one_not_yet_on_its_way_to_a_gpu(
        self, kernels: Submit, other: User, learner: User, broker: FakeBroker, committed: Any
    ) -> None:
        theirs = [kernels(f"y = {number}", user=other) for number in range(3)]
        mine = [kernels(f"x = {number}") for number in range(5)]
        for submission in mine:
            grade_on_cpu(submission)
        states = [stored(submission).second.state for submission in mine]
        assert states == ["queued", "queued", "replaced", "replaced", "queued"]
        assert all(outcomes(submission)[1] is None for submission in mine)
        assert all(outcomes(submission)[0] == "accepted" for submission in mine)
        assert all(outcomes(submission)[1] is None for submission in theirs)
        committed(grade_on_gpu, mine[0])
        assert broker.sent[-1]["submission"] == mine[4].public_id
        told = [event.kind.value for event in events.events_of(stored(mine[2]))]
        assert sorted(told) == ["claimed", "graded", "replaced", "submitted"]
        # It can still be had: it waits in turn again, and the verdict that stands stays.
        committed(services.resubmit, learner, mine[2])
        assert (stored(mine[2]).second.state, outcomes(mine[2])) == ("queued", ("accepted", None))
        assert events.events_of(stored(mine[2]))[-1].kind == "resubmitted"

    @pytest.mark.usefixtures("device_required")
    def test_what_counts_is_never_withdrawn(self, kernels: Submit) -> None:
        mine = [kernels(f"x = {number}") for number in range(4)]
        assert all(stored(submission).state == "queued" for submission in mine)

    def test_a_verdict_that_no_gpu_gives_does_not_keep_a_learner_from_submitting(
        self, kernels: Submit
    ) -> None:
        for number in range(limits.max_open_submissions() + 1):
            grade_on_cpu(kernels(f"x = {number}"))
        # The first two are on the queue, and the latest waits behind them.
        assert SecondVerdict.objects.filter(state="queued").count() == 3


class TestPeople:
    def test_a_regrade_grades_what_counts_and_a_devices_verdict_does_not_disturb_it(
        self, kernels: Submit, grader: User, broker: FakeBroker, committed: Any
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission, "wrong_answer")
        run = committed(services.start_regrade, grader, Submission.objects.all(), {})
        assert [broker.sent[-1]["kind"], broker.queues[-1][0]] == ["functional", "cpu"]
        grade_on_gpu(submission)
        grade_on_cpu(submission)
        assert outcomes(submission) == ("wrong_answer", "accepted")
        services.commit_regrade(grader, run, "all")
        assert outcomes(submission) == ("accepted", "accepted")
        services.undo_regrade(grader, run)
        assert outcomes(submission) == ("wrong_answer", "accepted")

    def test_a_persons_score_stands_whatever_a_device_finds(
        self, kernels: Submit, grader: User
    ) -> None:
        submission = kernels()
        grade_on_cpu(submission, "wrong_answer")
        services.override_score(stored(submission), grader, 0.8, "Nearly.")
        grade_on_gpu(submission)
        assert (stored(submission).score, stored(submission).second.score) == (0.8, 1.0)


def test_what_happened_is_told_of_both_kinds(kernels: Submit, committed: Any) -> None:
    submission = kernels()
    grade_on_cpu(submission, "wrong_answer")
    worker.record_progress(from_a_gpu_node(progress(submission), submission))
    committed(worker.record_return, returned(submission))
    grade_on_gpu(submission)
    told = events.events_of(stored(submission))
    assert [(event.kind.value, event.detail["kind"]) for event in told] == [
        ("submitted", "functional"),
        ("claimed", "functional"),
        ("graded", "functional"),
        ("claimed", "device"),
        ("returned", "device"),
        ("retried", "device"),
        ("claimed", "device"),
        ("graded", "device"),
    ]
    assert [event.detail["score"] for event in told if event.kind == "graded"] == [0.25, 1.0]
    assert told[4].detail["reason"] == "Its GPU is gone."


@pytest.mark.postgres
@pytest.mark.parametrize("kind", list(NodeKind))
def test_the_database_keeps_queues_and_kinds_together(kernels: Submit, kind: NodeKind) -> None:
    attempt = attempt_of(kernels(), kind)
    wrong = next(other.queue for other in NodeKind if other != kind)
    with pytest.raises(IntegrityError), transaction.atomic():
        GradingAttempt.objects.filter(pk=attempt.pk).update(queue=wrong)


@pytest.mark.postgres
def test_a_second_verdict_obeys_the_rules_of_verdicts(kernels: Submit) -> None:
    second = SecondVerdict.objects.filter(submission=kernels())
    for fields in ({"outcome": Outcome.ACCEPTED}, {"state": "finished"}, {"kind": "other"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            second.update(**fields)
