from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, transaction
from django.utils import timezone

from grader import services, waiting
from grader.models import (
    AuditEntry,
    GradingAttempt,
    Submission,
    WorkerNode,
)
from grader.services import errors
from grader.tests.conftest import FakeBroker
from grader.tests.messages import attempt_of, verdict, worker

Submit = Callable[..., Submission]


def stored(submission: Submission) -> Submission:
    return Submission.objects.get(pk=submission.pk)


class TestResubmit:
    @pytest.fixture
    def failed(self, submit: Submit) -> Submission:
        submission = submit()
        worker.record_verdict(verdict(submission, "not_gradable"))
        return stored(submission)

    def test_it_starts_over_with_all_tries(
        self, failed: Submission, learner: User, committed: Callable[..., Any], broker: FakeBroker
    ) -> None:
        committed(services.resubmit, learner, failed)
        now = stored(failed)
        assert (now.state, now.outcome, now.report) == ("queued", None, {})
        attempt = attempt_of(failed)
        assert (attempt.number, attempt.try_number) == (2, 1)
        assert broker.sent[-1]["lease"] == attempt.lease
        assert AuditEntry.objects.get().action == "submission.resubmitted"

    def test_twice_makes_one_attempt(
        self, failed: Submission, learner: User, committed: Callable[..., Any]
    ) -> None:
        committed(services.resubmit, learner, failed)
        with pytest.raises(errors.NotResubmittable):
            services.resubmit(learner, failed)
        assert failed.attempts.count() == 2

    def test_a_graded_submission_stays_graded(self, submit: Submit, learner: User) -> None:
        submission = submit()
        worker.record_verdict(verdict(submission, "wrong_answer"))
        with pytest.raises(errors.NotResubmittable):
            services.resubmit(learner, submission)

    def test_others_may_not(self, failed: Submission, other: User) -> None:
        other.user_permissions.add(Permission.objects.get(codename="view_submission"))
        with pytest.raises(errors.NotAllowed):
            services.resubmit(other, failed)

    def test_a_grader_may_in_the_learners_place(
        self, failed: Submission, learner: User, grader: User, committed: Callable[..., Any]
    ) -> None:
        committed(services.resubmit, grader, failed)
        failed.refresh_from_db()
        assert (failed.state, failed.user) == ("queued", learner)
        entry = AuditEntry.objects.get(action="submission.resubmitted")
        assert entry.actor == grader
        assert entry.before == {"functional": {"state": "finished", "outcome": "not_gradable"}}
        assert entry.after == {"functional": {"state": "queued", "outcome": None}}


class TestNodes:
    MESSAGE = {
        "version": 1,
        "node": "node-1",
        "queue": "cpu",
        "isolation": "A",
        "python": "3.11.2",
        "numpy": "2.0.0",
        "platform": "Linux",
        "devices": [],
        "tracks": ["numpy"],
    }

    def test_a_nodes_report_is_kept_up_to_date(self, db: None) -> None:
        worker.record_node(self.MESSAGE)
        worker.record_node({**self.MESSAGE, "isolation": "A-"})
        worker.record_node({**self.MESSAGE, "tracks": ["fortran"]})
        assert WorkerNode.objects.get().isolation == "A-"
        assert waiting.tracks_available() == {"numpy"}

    def test_a_silent_node_offers_no_track(self, db: None) -> None:
        worker.record_node(self.MESSAGE)
        WorkerNode.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
        assert waiting.tracks_available() == set()


@pytest.mark.postgres
@pytest.mark.parametrize(
    "change",
    [
        {"state": "finished"},
        {"state": "finished", "outcome": None},
        {"state": "finished", "outcome": "accepted"},
        {"outcome": "accepted", "score": 1.0},
        {"score": 0.5},
        {"state": "lost in space"},
        {"track": "abacus"},
        {"state": "finished", "outcome": "accepted", "score": 1.5},
        {"state": "finished", "outcome": "flagged", "score": 0.5},
    ],
)
def test_the_database_refuses_states_that_cannot_be(submit: Submit, change: dict[str, Any]) -> None:
    submission = submit()
    if change.get("state") == "finished" and len(change) > 1:
        change = {**change, "finished_at": timezone.now()}
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=submission.pk).update(**change)


@pytest.mark.postgres
def test_the_database_allows_one_open_attempt(submit: Submit) -> None:
    submission = submit()
    with pytest.raises(IntegrityError), transaction.atomic():
        GradingAttempt.objects.create(submission=submission, number=2, queue="cpu")
