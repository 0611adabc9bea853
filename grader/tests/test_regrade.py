"""Regrades: a dry run beside the submissions, a commit if a person wants it, and its undo."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from courses.models import RequirementMet
from gpu_worker.messages.queues import PRIORITY_LEARNER, PRIORITY_REGRADE
from grader import queries, services
from grader.models import (
    AttemptState,
    AuditEntry,
    GradingAttempt,
    RegradeItem,
    RegradeRun,
    RegradeState,
    Submission,
)
from grader.services import errors
from grader.tests.conftest import FakeBroker
from grader.tests.messages import attempt_of, progress, verdict, worker

pytestmark = pytest.mark.postgres

Submit = Callable[..., Submission]
Committed = Callable[..., Any]


@pytest.fixture(autouse=True)
def _many_may_be_made(settings: Any) -> None:
    settings.GRADING = {**settings.GRADING, "SUBMISSIONS_PER_MINUTE": 999}


@pytest.fixture
def graded(submit: Submit, committed: Committed) -> Callable[..., Submission]:
    """A submission with this outcome."""

    def make(outcome: str, score: float = 0.5, **kwargs: Any) -> Submission:
        submission = submit(f"x = {Submission.objects.count()}", **kwargs)
        committed(worker.record_verdict, verdict(submission, outcome, score=score))
        submission.refresh_from_db()
        return submission

    return make


@pytest.fixture
def regrade(grader: User, committed: Committed) -> Callable[..., RegradeRun]:
    def start(*submissions: Submission, by: User = grader) -> RegradeRun:
        chosen = Submission.objects.filter(pk__in=[s.pk for s in submissions])
        run: RegradeRun = committed(services.start_regrade, by, chosen, {"exercise": "rmsnorm"})
        return run

    return start


def values(submission: Submission) -> dict[str, Any]:
    return dict(Submission.objects.values().get(pk=submission.pk))


def answer(submission: Submission, outcome: str, score: float = 0.5) -> None:
    """What a worker says to the latest attempt, which is the regrade's."""
    assert attempt_of(submission).regrade_item is not None
    worker.record_verdict(verdict(submission, outcome, score=score))


class TestDryRun:
    def test_it_changes_nothing_of_the_learners(
        self, graded: Any, regrade: Any, broker: FakeBroker
    ) -> None:
        submission = graded("wrong_answer", 0.25)
        before = values(submission)
        run = regrade(submission)
        assert broker.queues[-1] == ("cpu", PRIORITY_REGRADE)
        worker.record_progress(progress(submission, "running", case=3, cases=9))
        answer(submission, "accepted")
        assert values(submission) == before
        assert not RequirementMet.objects.exists()
        item = run.items.get()
        assert (item.old_outcome, item.old_score) == ("wrong_answer", 0.25)
        assert (item.outcome, item.score, item.change) == ("accepted", 1.0, "raised")
        assert item.report["groups"][0]["title"] == "Basics"
        run.refresh_from_db()
        assert (run.state, run.graded_at is not None) == ("graded", True)
        (entry,) = AuditEntry.objects.filter(target=f"regrade:{run.public_id}")
        assert entry.after == {"state": "grading", "filter": {"exercise": "rmsnorm"}}
        assert (entry.before, entry.detail) == (None, {"submissions": 1})

    def test_many_are_started_in_as_many_statements_as_one(
        self, graded: Any, grader: User, django_assert_max_num_queries: Any
    ) -> None:
        """One by one, a thousand would keep everybody else from writing for seconds."""
        pks = [graded("wrong_answer").pk for _ in range(6)]
        one, many = Submission.objects.filter(pk=pks[0]), Submission.objects.filter(pk__in=pks)
        # What is sent once the transaction holds is not of it.
        with CaptureQueriesContext(connection) as few:
            run = services.start_regrade(grader, one, {})
        run.state = RegradeState.GRADED
        run.save()
        with django_assert_max_num_queries(len(few)):
            run = services.start_regrade(grader, many, {})
        assert run.items.count() == 6
        attempts = GradingAttempt.objects.filter(regrade_item__run=run)
        assert {attempt.submission_id for attempt in attempts} == set(pks)
        assert sorted(attempts.values_list("number", flat=True)) == [2, 2, 2, 2, 2, 3]
        assert attempts.filter(outbox__isnull=False).count() == 6

    def test_the_run_is_graded_when_its_last_item_is(self, graded: Any, regrade: Any) -> None:
        one, two = graded("wrong_answer"), graded("accepted")
        run = regrade(one, two)
        answer(two, "accepted")
        assert RegradeRun.objects.get().state == "grading"
        answer(one, "wrong_answer")
        assert RegradeRun.objects.get().state == "graded"
        assert [item.change for item in run.items.all()] == ["same", "same"]

    def test_what_a_person_must_settle_or_has_settled_is_left_out(
        self, graded: Any, submit: Submit, regrade: Any, grader: User
    ) -> None:
        flagged, decided = graded("flagged"), graded("flagged")
        services.decide_flagged(decided, grader, "wrong_answer", "It forges.")
        usual, still_open = graded("accepted"), submit("x = 99")
        run = regrade(flagged, decided, usual, still_open)
        assert [item.submission for item in run.items.all()] == [usual]
        assert run.left_out == 3

    def test_only_who_may_change_submissions_starts_one(
        self, graded: Any, regrade: Any, learner: User, grader: User
    ) -> None:
        submission = graded("accepted")
        grader.user_permissions.remove(Permission.objects.get(codename="change_submission"))
        for user in (learner, User.objects.get(pk=grader.pk)):
            with pytest.raises(errors.NotAllowed):
                regrade(submission, by=user)
        assert not RegradeRun.objects.exists()

    def test_twice_at_once_is_one_run(self, graded: Any, regrade: Any) -> None:
        submission = graded("accepted")
        regrade(submission)
        with pytest.raises(errors.RegradeNotReady):
            regrade(submission)
        assert GradingAttempt.objects.filter(state="queued").count() == 1

    def test_none_and_too_many_are_refused(
        self, graded: Any, regrade: Any, submit: Submit, settings: Any
    ) -> None:
        settings.GRADING = {**settings.GRADING, "MAX_REGRADE_SUBMISSIONS": 1}
        for submissions in ((), (submit(),), (graded("accepted"), graded("accepted"))):
            with pytest.raises(errors.RegradeRefused):
                regrade(*submissions)
        assert not RegradeItem.objects.exists()


class TestLife:
    def test_a_lost_worker_gets_the_item_another_try_and_at_last_the_blame(
        self, graded: Any, regrade: Any, committed: Committed
    ) -> None:
        submission = graded("accepted")
        before = values(submission)
        run = regrade(submission)
        for _ in range(3):
            worker.record_progress(progress(submission, "running"))
            GradingAttempt.objects.filter(state="running").update(
                heartbeat_at=timezone.now() - timedelta(seconds=60)
            )
            assert committed(services.requeue_lost).lost == 1
        item = run.items.get()
        assert (item.outcome, item.score, item.change) == ("not_gradable", None, "failed")
        assert "worker lost" in item.report["failure"]["message"]
        assert values(submission) == before
        assert RegradeRun.objects.get().state == "graded"

    def test_second_verdicts_change_nothing(self, graded: Any, regrade: Any) -> None:
        submission = graded("accepted")
        run = regrade(submission)
        message = verdict(submission, "wrong_answer")
        worker.record_verdict(message)
        worker.record_verdict({**message, "outcome": "time_limit"})
        assert run.items.get().outcome == "wrong_answer"

    def test_learners_attempts_are_counted_and_placed_without_regrades(
        self, graded: Any, regrade: Any, submit: Submit, other: User, api: Any, learner: User
    ) -> None:
        old = [graded("accepted") for _ in range(4)]
        regrade(*old)
        new = submit("x = 99", user=other)
        assert queries.queue_position(new) == 1
        assert attempt_of(new).priority == PRIORITY_LEARNER
        shown = api(learner).get(f"/api/v1/submissions/{old[0].public_id}/").json()
        assert (shown["grading_attempts"], shown["queue_position"]) == (1, None)

    def test_a_learner_may_send_again_what_is_being_regraded(
        self, graded: Any, regrade: Any, learner: User, committed: Committed
    ) -> None:
        submission = graded("not_gradable")
        run = regrade(submission)
        committed(services.resubmit, learner, submission)
        regraded = submission.attempts.get(regrade_item__isnull=False)
        message = {**verdict(submission), "lease": regraded.lease}
        worker.record_verdict(message)
        assert values(submission)["state"] == "queued"
        services.commit_regrade(run.created_by, run, "all")
        assert run.items.get().state == "changed"

    def test_few_of_a_large_run_are_on_the_queue_at_once(
        self,
        graded: Any,
        regrade: Any,
        broker: FakeBroker,
        committed: Committed,
        settings: Any,
    ) -> None:
        settings.GRADING = {**settings.GRADING, "REGRADES_ON_QUEUE": 2}
        old = [graded("accepted") for _ in range(5)]
        before = len(broker.sent)
        run = regrade(*old)
        assert len(broker.sent) == before + 2
        for submission in old:
            committed(worker.record_verdict, verdict(submission, "accepted"))
        assert [job["submission"] for job in broker.sent[before:]] == [s.public_id for s in old]
        assert RegradeRun.objects.get(pk=run.pk).state == "graded"

    def test_after_an_outage_learners_are_sent_before_regrades(
        self, graded: Any, regrade: Any, broker: FakeBroker, submit: Submit
    ) -> None:
        old = graded("accepted")
        broker.down = True
        regrade(old)
        new = submit("x = 99")
        broker.down = False
        services.send_outbox()
        assert [job["submission"] for job in broker.sent[-2:]] == [new.public_id, old.public_id]


@pytest.fixture
def finished_run(graded: Any, regrade: Any) -> tuple[RegradeRun, dict[str, Submission]]:
    """A graded run: one submission raised, one lowered, one the same, one failed by our fault."""
    old = {
        "raised": graded("wrong_answer", 0.25),
        "lowered": graded("accepted"),
        "same": graded("wrong_answer", 0.5),
        "failed": graded("accepted"),
    }
    run = regrade(*old.values())
    answer(old["raised"], "accepted")
    answer(old["lowered"], "wrong_answer", 0.75)
    answer(old["same"], "wrong_answer", 0.5)
    answer(old["failed"], "not_gradable")
    run.refresh_from_db()
    return run, old


class TestCommit:
    def test_all_takes_over_what_differs(
        self, finished_run: tuple[RegradeRun, dict[str, Submission]], grader: User
    ) -> None:
        run, old = finished_run
        before = {name: values(submission) for name, submission in old.items()}
        services.commit_regrade(grader, run, "all")
        assert (run.state, run.scope) == ("committed", "all")
        after = {name: values(submission) for name, submission in old.items()}
        assert after["same"] == before["same"]
        assert after["failed"] == before["failed"]
        assert (after["raised"]["outcome"], after["raised"]["score"]) == ("accepted", 1.0)
        assert (after["lowered"]["outcome"], after["lowered"]["score"]) == ("wrong_answer", 0.75)
        assert after["raised"]["version"] == before["raised"]["version"] + 1
        assert after["raised"]["finished_at"] == before["raised"]["finished_at"]
        note = after["raised"]["report"]["notes"][0]
        assert note.startswith("Graded again on ")
        assert note.endswith("Before, it was: Wrong answer, score 25 %.")
        states = dict(run.items.values_list("submission__public_id", "state"))
        assert [states[s.public_id] for s in old.values()] == ["applied", "applied", "left", "left"]
        entry = AuditEntry.objects.get(action="regrade.committed")
        assert (entry.actor, entry.detail) == (grader, {"scope": "all", "applied": 2, "left": 2})
        assert (entry.before, entry.after) == ({"state": "graded"}, {"state": "committed"})

    def test_not_lower_leaves_what_would_cost_the_learner(
        self, finished_run: tuple[RegradeRun, dict[str, Submission]], grader: User
    ) -> None:
        run, old = finished_run
        before = values(old["lowered"])
        services.commit_regrade(grader, run, "not_lower")
        assert values(old["lowered"]) == before
        assert values(old["raised"])["outcome"] == "accepted"

    def test_an_acceptance_meets_the_requirement_and_a_loss_takes_nothing_back(
        self, graded: Any, regrade: Any, grader: User, other: User
    ) -> None:
        winner, loser = graded("wrong_answer"), graded("accepted", user=other)
        assert RequirementMet.objects.count() == 1
        run = regrade(winner, loser)
        answer(winner, "accepted")
        answer(loser, "wrong_answer")
        services.commit_regrade(grader, run, "all")
        met = {row.learner.user for row in RequirementMet.objects.all()}
        assert met == {winner.user, other}
        services.undo_regrade(grader, run)
        assert RequirementMet.objects.count() == 2

    def test_a_persons_decision_made_meanwhile_is_not_overwritten(
        self, graded: Any, regrade: Any, grader: User
    ) -> None:
        submission = graded("wrong_answer")
        run = regrade(submission)
        answer(submission, "accepted")
        Submission.objects.update(outcome="flagged", score=None)
        services.decide_flagged(submission, grader, "contract_error", "It forges.")
        before = values(submission)
        services.commit_regrade(grader, run, "all")
        assert values(submission) == before
        assert run.items.get().state == "changed"

    def test_of_two_runs_over_one_submission_the_first_commit_holds(
        self, graded: Any, regrade: Any, grader: User
    ) -> None:
        submission = graded("wrong_answer")
        first = regrade(submission)
        answer(submission, "accepted")
        second = regrade(submission)
        answer(submission, "contract_error", 0.0)
        services.commit_regrade(grader, first, "all")
        services.commit_regrade(grader, second, "all")
        assert values(submission)["outcome"] == "accepted"
        assert second.items.get().state == "changed"

    @pytest.mark.parametrize("scope", ["", "everything", "ALL"])
    def test_an_unknown_scope_is_refused(
        self, finished_run: tuple[RegradeRun, Any], grader: User, scope: str
    ) -> None:
        with pytest.raises(errors.RegradeRefused):
            services.commit_regrade(grader, finished_run[0], scope)

    def test_only_a_graded_run_is_committed_and_once(
        self, graded: Any, regrade: Any, grader: User, learner: User
    ) -> None:
        submission = graded("wrong_answer")
        run = regrade(submission)
        with pytest.raises(errors.RegradeNotReady, match="being graded"):
            services.commit_regrade(grader, run, "all")
        answer(submission, "accepted")
        with pytest.raises(errors.NotAllowed):
            services.commit_regrade(learner, run, "all")
        services.commit_regrade(grader, run, "all")
        version = values(submission)["version"]
        with pytest.raises(errors.RegradeNotReady):
            services.commit_regrade(grader, run, "all")
        assert values(submission)["version"] == version


class TestUndo:
    def test_it_gives_back_exactly_what_was(
        self, finished_run: tuple[RegradeRun, dict[str, Submission]], grader: User
    ) -> None:
        run, old = finished_run
        before = {name: values(submission) for name, submission in old.items()}
        services.commit_regrade(grader, run, "all")
        services.undo_regrade(grader, run)
        assert run.state == "undone"
        for name, submission in old.items():
            after = values(submission)
            for field in ("version", "updated_at"):
                after.pop(field), before[name].pop(field)
            assert after == before[name]
        assert AuditEntry.objects.get(action="regrade.undone").detail == {"undone": 2}
        with pytest.raises(errors.RegradeNotReady):
            services.undo_regrade(grader, run)

    def test_what_happened_since_stays(self, graded: Any, regrade: Any, grader: User) -> None:
        submission = graded("wrong_answer")
        run = regrade(submission)
        answer(submission, "flagged")
        services.commit_regrade(grader, run, "all")
        services.decide_flagged(submission, grader, "accepted", "It is fine.")
        services.undo_regrade(grader, run)
        assert values(submission)["outcome"] == "accepted"
        assert run.items.get().state == "changed"

    def test_only_a_committed_run_is_undone_by_who_may(
        self, finished_run: tuple[RegradeRun, Any], grader: User, learner: User
    ) -> None:
        run, _ = finished_run
        with pytest.raises(errors.RegradeNotReady):
            services.undo_regrade(grader, run)
        services.commit_regrade(grader, run, "all")
        with pytest.raises(errors.NotAllowed):
            services.undo_regrade(learner, run)


def test_a_run_cannot_have_two_open_attempts_for_one_item(graded: Any, regrade: Any) -> None:
    from django.db import IntegrityError, transaction

    submission = graded("accepted")
    item = regrade(submission).items.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        GradingAttempt.objects.create(
            submission=submission, regrade_item=item, number=9, queue="cpu"
        )
    assert GradingAttempt.objects.filter(state__in=AttemptState.open()).count() == 1
