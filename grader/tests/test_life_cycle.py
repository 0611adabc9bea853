from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from courses.models import Chapter, ChapterCompletion, RequirementMet
from gpu_worker.messages.protocol import Verdict
from grader import limits, queries, services
from grader.models import (
    AttemptState,
    GradingAttempt,
    OutboxMessage,
    Outcome,
    Phase,
    Submission,
    SubmissionState,
)
from grader.presentation import outcomes
from grader.services import Recorded
from grader.tests.conftest import FakeBroker
from grader.tests.messages import attempt_of, group, progress, report, verdict, worker

pytestmark = pytest.mark.postgres

Submit = Callable[..., Submission]


def stored(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_has_a_text(phase: Phase) -> None:
    assert outcomes.phase_text(phase, 0, 0).endswith(".")


def test_a_submission_goes_from_queued_to_its_verdict(submit: Submit) -> None:
    submission = submit()
    worker.record_progress(progress(submission, "claimed"))
    assert stored(submission).state == SubmissionState.CLAIMED
    assert stored(submission).claimed_at is not None
    worker.record_progress(progress(submission, "setting_up"))
    worker.record_progress(progress(submission, "running", case=3, cases=9))
    now = stored(submission)
    assert (now.state, now.phase, now.case, now.cases) == ("running", "running", 3, 9)
    assert outcomes.phase_text(now.phase, now.case, now.cases).endswith("case 3 of 9.")
    worker.record_verdict(verdict(submission))
    done = stored(submission)
    assert (done.state, done.outcome, done.score) == ("finished", "accepted", 1.0)
    assert done.report["groups"][0]["title"] == "Basics"
    assert done.finished_at is not None
    assert attempt_of(submission).state == AttemptState.FINISHED


@pytest.mark.parametrize("outcome", [value for value in Outcome.values if value != "accepted"])
def test_scores_belong_to_outcomes_that_are_scored(submit: Submit, outcome: str) -> None:
    submission = submit()
    worker.record_verdict(verdict(submission, outcome))
    expected = None if outcome in ("flagged", "not_gradable") else 0.25
    assert (stored(submission).outcome, stored(submission).score) == (outcome, expected)


def test_an_acceptance_is_whole_even_if_weights_round(submit: Submit) -> None:
    submission = submit()
    worker.record_verdict(verdict(submission, score=0.9999999))
    assert stored(submission).score == 1.0


def test_an_acceptance_meets_the_chapters_requirement_once(
    submit: Submit, learner: User, chapter: Chapter
) -> None:
    for source in ("x = 1", "x = 2"):
        worker.record_verdict(verdict(submit(source)))
    met = RequirementMet.objects.get()
    assert (met.name, met.chapter, met.learner.user) == ("exercise:rmsnorm", chapter, learner)
    assert ChapterCompletion.objects.count() == 1


def test_a_failure_meets_no_requirement(submit: Submit) -> None:
    worker.record_verdict(verdict(submit(), "wrong_answer"))
    assert not RequirementMet.objects.exists()


class TestLease:
    def test_the_second_delivery_of_a_verdict_changes_nothing(self, submit: Submit) -> None:
        submission = submit()
        message = verdict(submission)
        worker.record_verdict(message)
        before = Submission.objects.values().get()
        again = Verdict.from_message({**message, "outcome": "wrong_answer", "score": 0.0})
        assert services.record_verdict(again) is Recorded.STALE
        assert Submission.objects.values().get() == before
        assert RequirementMet.objects.count() == 1

    @pytest.mark.parametrize("field", ["lease", "submission"])
    def test_a_verdict_for_another_lease_or_submission_changes_nothing(
        self, submit: Submit, field: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        submission, neighbour = submit("x = 1"), submit("x = 2")
        foreign = {"lease": "0" * 32, "submission": neighbour.public_id}[field]
        with caplog.at_level(logging.WARNING):
            worker.record_verdict({**verdict(submission), field: foreign})
        assert set(Submission.objects.values_list("state", flat=True)) == {"queued"}
        assert "changes nothing" in caplog.text

    def test_progress_after_the_verdict_changes_nothing(self, submit: Submit) -> None:
        submission = submit()
        late = progress(submission, "running", case=1, cases=9)
        worker.record_verdict(verdict(submission))
        before = Submission.objects.values().get()
        worker.record_progress(late)
        assert Submission.objects.values().get() == before
        assert attempt_of(submission).state == AttemptState.FINISHED

    def test_progress_that_was_overtaken_only_renews_the_heartbeat(self, submit: Submit) -> None:
        submission = submit()
        worker.record_progress(progress(submission, "running", case=5, cases=9))
        old = timezone.now() - timedelta(seconds=25)
        GradingAttempt.objects.update(heartbeat_at=old)
        for late in (progress(submission, "claimed"), progress(submission, "running", case=2)):
            worker.record_progress(late)
        now = stored(submission)
        assert (now.state, now.phase, now.case) == ("running", "running", 5)
        assert attempt_of(submission).state == AttemptState.RUNNING
        assert attempt_of(submission).heartbeat_at > old

    def test_a_second_worker_with_the_same_job_shows_its_own_progress(self, submit: Submit) -> None:
        submission = submit()
        worker.record_progress(progress(submission, "running", case=5, cases=9))
        worker.record_progress(progress(submission, "claimed", node="node-2"))
        assert (stored(submission).state, stored(submission).case) == ("claimed", 0)
        worker.record_verdict(verdict(submission, node="node-2"))
        assert services.record_verdict(Verdict.from_message(verdict(submission))) is Recorded.STALE

    def test_a_heartbeat_without_news_does_not_change_the_etag(self, submit: Submit) -> None:
        submission = submit()
        message = progress(submission, "running", case=5, cases=9)
        worker.record_progress(message)
        version = stored(submission).version
        worker.record_progress(message)
        assert stored(submission).version == version


class TestLostWorkers:
    def lose(self, submission: Submission, commit: Callable[..., Any]) -> services.Swept:
        worker.record_progress(progress(submission, "running", case=1, cases=9))
        silent_since = timezone.now() - timedelta(seconds=31)
        submission.attempts.filter(state="running").update(heartbeat_at=silent_since)
        return commit(services.requeue_lost)

    def test_a_silent_worker_costs_a_try_and_gets_a_new_lease(
        self, submit: Submit, committed: Callable[..., Any], broker: FakeBroker
    ) -> None:
        submission = submit()
        first = attempt_of(submission)
        assert self.lose(submission, committed).lost == 1
        first.refresh_from_db()
        second = attempt_of(submission)
        assert (first.state, first.end_reason) == ("lost", "worker lost")
        assert second.lease != first.lease
        assert [job["lease"] for job in broker.sent] == [first.lease, second.lease]
        now = stored(submission)
        assert (now.state, now.phase, now.case, now.claimed_at) == ("queued", "", 0, None)

    def test_after_the_last_try_the_platform_takes_the_blame(
        self, submit: Submit, committed: Callable[..., Any]
    ) -> None:
        submission = submit()
        for _ in range(3):
            assert self.lose(submission, committed).lost == 1
        done = stored(submission)
        assert (done.state, done.outcome, done.score) == ("finished", "not_gradable", None)
        assert "worker lost" in done.report["failure"]["message"]
        assert "not your fault" in done.report["failure"]["message"]
        assert submission.attempts.count() == 3
        assert queries.counted_attempts(submission.user, submission.exercise) == 0
        assert committed(services.requeue_lost).lost == 0

    def test_the_zombies_verdict_comes_too_late(
        self, submit: Submit, committed: Callable[..., Any]
    ) -> None:
        submission = submit()
        zombie, zombie_alive = verdict(submission), progress(submission)
        self.lose(submission, committed)
        worker.record_verdict(zombie)
        worker.record_progress(zombie_alive)
        assert stored(submission).state == SubmissionState.QUEUED
        worker.record_verdict(verdict(submission, "wrong_answer"))
        assert stored(submission).outcome == "wrong_answer"

    def test_a_job_that_waits_long_is_never_given_up(
        self, submit: Submit, committed: Callable[..., Any], broker: FakeBroker
    ) -> None:
        submission = submit()
        broker.backlog = 1
        long_ago = timezone.now() - timedelta(days=2)
        Submission.objects.update(created_at=long_ago)
        GradingAttempt.objects.update(created_at=long_ago)
        OutboxMessage.objects.update(sent_at=long_ago)
        assert committed(services.requeue_lost) == services.Swept(lost=0, resent=0)
        assert stored(submission).state == SubmissionState.QUEUED
        worker.record_progress(progress(submission, "claimed"))
        assert committed(services.requeue_lost).lost == 0

    @pytest.mark.parametrize("trouble", ["unread", "away"])
    def test_silence_means_little_while_signs_of_life_may_lie_unread(
        self, submit: Submit, committed: Callable[..., Any], broker: FakeBroker, trouble: str
    ) -> None:
        submission = submit()
        broker.backlog, broker.down = int(trouble == "unread"), trouble == "away"
        assert self.lose(submission, committed).lost == 0
        long_silent = timezone.now() - timedelta(seconds=4 * 30 + 1)
        submission.attempts.update(heartbeat_at=long_silent)
        assert committed(services.requeue_lost).lost == 1

    def test_a_heartbeat_between_look_and_write_saves_the_attempt(
        self, submit: Submit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        submission = submit()
        worker.record_progress(progress(submission))
        attempt = attempt_of(submission)
        seen = timezone.now() - timedelta(seconds=60)
        monkeypatch.setattr("grader.services.reaper._silent", lambda now: [(attempt.pk, seen)])
        assert services.requeue_lost().lost == 0
        assert attempt_of(submission).state == AttemptState.RUNNING

    def test_a_poison_job_does_not_hold_up_the_others(
        self, submit: Submit, committed: Callable[..., Any]
    ) -> None:
        poison, good = submit("poison"), submit("good")
        self.lose(poison, committed)
        worker.record_verdict(verdict(good))
        self.lose(poison, committed)
        self.lose(poison, committed)
        assert stored(good).outcome == "accepted"
        assert stored(poison).outcome == "not_gradable"


class TestVanishedMessages:
    @pytest.fixture
    def vanished(self, submit: Submit) -> Submission:
        submission = submit()
        sent_at = timezone.now() - limits.resend_after() - timedelta(seconds=1)
        OutboxMessage.objects.update(sent_at=sent_at)
        return submission

    def test_a_message_gone_from_an_empty_queue_is_sent_again(
        self, vanished: Submission, broker: FakeBroker
    ) -> None:
        lease = attempt_of(vanished).lease
        assert services.requeue_lost().resent == 1
        assert [job["lease"] for job in broker.sent] == [lease, lease]
        assert services.requeue_lost().resent == 0

    def test_not_while_the_broker_could_still_hand_it_out(
        self, vanished: Submission, broker: FakeBroker
    ) -> None:
        just_before = timezone.now() - limits.resend_after() + timedelta(seconds=5)
        OutboxMessage.objects.update(sent_at=just_before)
        assert services.requeue_lost().resent == 0
        broker.backlog = 3
        OutboxMessage.objects.update(sent_at=just_before - timedelta(seconds=10))
        assert services.requeue_lost().resent == 0

    def test_on_a_busy_queue_it_is_missed_when_a_later_one_was_served(
        self, vanished: Submission, submit: Submit, other: User, broker: FakeBroker
    ) -> None:
        later = submit("x = 2", user=other)
        broker.backlog = 3
        assert services.requeue_lost().resent == 0
        worker.record_progress(progress(later, "claimed"))
        assert services.requeue_lost().resent == 1
        assert broker.sent[-1]["submission"] == vanished.public_id

    def test_a_broker_that_cannot_be_asked_is_no_empty_queue(
        self, vanished: Submission, broker: FakeBroker
    ) -> None:
        broker.down = True
        assert services.requeue_lost().resent == 0
        assert OutboxMessage.objects.get().sent_at is not None


class TestUnusableVerdicts:
    @pytest.mark.parametrize(
        "groups",
        [
            [],
            [group(cases=0, cases_passed=0)],
            [group(), group(False)],
            [group(), group(None)],
            [group(cases=6, cases_passed=1)],
        ],
        ids=["no group", "no case", "one failed", "one not run", "one of six ran"],
    )
    def test_an_acceptance_without_n_of_n_cases_is_never_a_pass(
        self, submit: Submit, committed: Callable[..., Any], groups: list[dict[str, Any]]
    ) -> None:
        submission = submit()
        for _ in range(3):
            message = verdict(submission, report=report(groups=groups))
            committed(worker.record_verdict, message)
            assert stored(submission).outcome != "accepted"
        assert stored(submission).outcome == "not_gradable"
        assert not RequirementMet.objects.exists()

    def test_an_unreadable_verdict_is_graded_again_then_given_up(
        self, submit: Submit, committed: Callable[..., Any], broker: FakeBroker
    ) -> None:
        submission = submit()
        committed(worker.record_verdict, verdict(submission, score="very good"))
        assert stored(submission).state == SubmissionState.QUEUED
        assert len(broker.sent) == 2
        worker.record_verdict(verdict(submission))
        assert stored(submission).outcome == "accepted"

    def test_an_unreadable_verdict_without_a_lease_changes_nothing(self, submit: Submit) -> None:
        submission = submit()
        for message in (
            None,
            [],
            "accepted",
            {},
            verdict(submission, lease=None),
            verdict(submission, lease="x" * 100_000, score=None),
            verdict(submission, lease="0" * 32, score=None),
        ):
            worker.record_verdict(message)
        assert stored(submission).state == SubmissionState.QUEUED
        assert submission.attempts.count() == 1
