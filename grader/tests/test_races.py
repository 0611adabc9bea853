"""Concurrency, on a database that the threads really share."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections, transaction
from django.utils import timezone

from courses.models import ChapterCompletion
from gpu_worker.messages.checks import CheckUpdate
from gpu_worker.messages.protocol import Progress, Redelivery, Returned, Verdict
from grader import services
from grader.models import (
    AttemptState,
    AuditAction,
    AuditEntry,
    CheckState,
    Exercise,
    ExerciseCheck,
    GradingAttempt,
    OutboxMessage,
    Submission,
)
from grader.services import Recorded, errors
from grader.services.publishing import Answer, Standing, publish_exercise, withdraw
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.messages import (
    attempt_of,
    from_a_cpu_node,
    progress,
    redelivered,
    returned,
    verdict,
)

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 8


def at_once(call: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Call from many threads at the same moment; return results, or what was raised."""
    barrier = Barrier(threads)

    def run(number: int) -> Any:
        try:
            barrier.wait(timeout=180)
            return call(number)
        except errors.Refused as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def test_one_idempotency_key_from_many_threads_is_one_submission(
    learner: User, exercise: Exercise, broker: FakeBroker
) -> None:
    results = at_once(lambda _: services.submit(learner, exercise, "numpy", SOURCE, "key"))
    assert len({submission.pk for submission in results}) == 1
    assert Submission.objects.count() == 1
    assert GradingAttempt.objects.count() == 1
    assert len(broker.sent) == 1


def test_the_limit_of_open_submissions_holds_under_threads(
    learner: User, exercise: Exercise, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 3}
    results = at_once(lambda n: services.submit(learner, exercise, "numpy", f"x = {n}"))
    assert sum(isinstance(result, errors.TooMany) for result in results) == THREADS - 3
    assert Submission.objects.count() == 3


def test_a_verdict_delivered_many_times_at_once_is_recorded_once(
    learner: User, exercise: Exercise
) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    message = Verdict.from_message(verdict(submission))
    results = at_once(lambda _: services.record_verdict(message))
    assert results.count(Recorded.APPLIED) == 1
    assert results.count(Recorded.STALE) == THREADS - 1
    assert ChapterCompletion.objects.count() == 1
    assert Submission.objects.get().version == 2


def test_contradicting_verdicts_at_once_leave_one(learner: User, exercise: Exercise) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    both = [
        Verdict.from_message(verdict(submission, outcome))
        for outcome in ("accepted", "wrong_answer")
    ]
    results = at_once(lambda n: services.record_verdict(both[n % 2]))
    assert results.count(Recorded.APPLIED) == 1
    won = both[results.index(Recorded.APPLIED) % 2]
    submission.refresh_from_db()
    assert submission.outcome == won.outcome
    assert attempt_of(submission).outcome == won.outcome


def test_many_sweepers_start_one_new_attempt(
    learner: User, exercise: Exercise, broker: FakeBroker
) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    services.record_progress(Progress.from_message(progress(submission)))
    GradingAttempt.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=60))
    swept = at_once(lambda _: services.requeue_lost())
    assert sum(result.lost for result in swept) == 1
    assert submission.attempts.count() == 2
    assert len(broker.sent) == 2


def test_sweeper_and_verdict_at_once_leave_one_truth(learner: User, exercise: Exercise) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    services.record_progress(Progress.from_message(progress(submission)))
    GradingAttempt.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=60))
    message = Verdict.from_message(verdict(submission))
    results = at_once(
        lambda n: services.record_verdict(message) if n % 2 else services.requeue_lost()
    )
    submission.refresh_from_db()
    if Recorded.APPLIED in results:
        assert submission.outcome == "accepted"
        assert submission.attempts.count() == 1
    else:
        assert submission.state == "queued"
        assert submission.attempts.filter(state=AttemptState.QUEUED).count() == 1


def test_the_outbox_sends_each_message_once(
    learner: User, exercise: Exercise, broker: FakeBroker, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "JOBS_ON_QUEUE_PER_LEARNER": 4}
    broker.down = True
    for number in range(4):
        services.submit(learner, exercise, "numpy", f"x = {number}")
    broker.down = False
    at_once(lambda _: services.send_outbox())
    assert len(broker.sent) == 4
    assert not OutboxMessage.objects.filter(sent_at=None).exists()


def test_resubmitting_from_two_tabs_makes_one_attempt(learner: User, exercise: Exercise) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    services.record_verdict(Verdict.from_message(verdict(submission, "not_gradable")))
    results = at_once(lambda _: services.resubmit(learner, Submission.objects.get()))
    refused = [result for result in results if isinstance(result, errors.NotResubmittable)]
    assert len(refused) == THREADS - 1
    assert submission.attempts.count() == 2


def test_many_ends_at_once_send_each_held_one_once(
    learner: User, exercise: Exercise, broker: FakeBroker, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 99}
    mine = [services.submit(learner, exercise, "numpy", f"x = {n}") for n in range(8)]
    messages = [Verdict.from_message(verdict(submission)) for submission in mine]
    assert len(broker.sent) == 2
    at_once(lambda n: services.record_verdict(messages[n % 2]), threads=4)
    services.send_outbox()
    sent = [job["submission"] for job in broker.sent]
    assert len(sent) == len(set(sent))
    assert sent[:4] == [s.public_id for s in mine[:4]]


def test_the_last_items_of_a_regrade_that_end_at_once_end_the_run(
    learner: User, exercise: Exercise, grader: User
) -> None:
    mine = [services.submit(learner, exercise, "numpy", f"x = {n}") for n in range(4)]
    for submission in mine:
        services.record_verdict(Verdict.from_message(verdict(submission)))
    run = services.start_regrade(grader, Submission.objects.all(), {})
    messages = [Verdict.from_message(verdict(submission)) for submission in mine]
    at_once(lambda n: services.record_verdict(messages[n]), threads=4)
    run.refresh_from_db()
    assert run.state == "graded"


def test_regrading_from_two_tabs_starts_one_run_and_two_commits_are_one(
    learner: User, exercise: Exercise, grader: User
) -> None:
    submission = services.submit(learner, exercise, "numpy", SOURCE)
    services.record_verdict(Verdict.from_message(verdict(submission, "wrong_answer")))
    runs = at_once(lambda _: services.start_regrade(grader, Submission.objects.all(), {}))
    (run,) = (found for found in runs if not isinstance(found, errors.Refused))
    assert submission.attempts.count() == 2
    services.record_verdict(Verdict.from_message(verdict(submission)))
    commits = at_once(lambda _: services.commit_regrade(grader, run, "all"))
    assert sum(isinstance(done, errors.RegradeNotReady) for done in commits) == THREADS - 1
    submission.refresh_from_db()
    assert (submission.outcome, submission.version) == ("accepted", 3)


def test_attempts_of_both_kinds_that_end_at_once_are_numbered_one_after_the_other(
    learner: User, exercise: Exercise, broker: FakeBroker
) -> None:
    submission = services.submit(learner, exercise, "cupy", SOURCE)
    functional = from_a_cpu_node(redelivered(submission), submission)
    messages = [Redelivery.from_message(functional), Returned.from_message(returned(submission))]
    act = [services.record_redelivery, services.record_return]
    results = at_once(lambda n: act[n % 2](messages[n % 2]), threads=4)
    assert sorted(result.name for result in results) == ["APPLIED"] * 2 + ["STALE"] * 2
    numbers = submission.attempts.order_by("number").values_list("number", flat=True)
    assert list(numbers) == [1, 2, 3, 4]
    assert len(broker.sent) == 4


# --- publishing exercises -------------------------------------------------------------------------
@pytest.fixture
def standing(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> Standing:
    """What is known of the exercise, which is not published and has passed no check."""
    Exercise.objects.update(is_published=False)
    known = Standing("", digest="as it is")
    monkeypatch.setattr("grader.services.publishing.standing_of", lambda slug: known)
    return known


def publish(slug: str, standing: Standing) -> Answer:
    with transaction.atomic():
        exercise = Exercise.objects.select_for_update(of=("self",)).get(slug=slug)
        return publish_exercise(exercise, standing)


def passed(job: dict[str, Any]) -> CheckUpdate:
    return CheckUpdate(
        check=job["check"],
        lease=job["lease"],
        node="n",
        digest=job["digest"],
        first=0,
        next=2,
        steps=2,
        stored=1,
        graded=2,
    )


def test_many_who_publish_an_exercise_at_once_ask_for_one_check(
    standing: Standing, broker: FakeBroker
) -> None:
    answers = at_once(lambda _: publish("rmsnorm", standing))
    assert set(answers) == {Answer.CHECKING}
    assert ExerciseCheck.objects.get().state == CheckState.RUNNING
    assert len(broker.checks) == 1


def test_many_exercises_published_at_once_are_checked_one_after_the_other(
    standing: Standing, broker: FakeBroker
) -> None:
    for number in range(THREADS):
        Exercise.objects.create(slug=f"e{number}", title="E")
    at_once(lambda number: publish(f"e{number}", standing))
    for done in range(THREADS):
        assert ExerciseCheck.objects.filter(state=CheckState.RUNNING).count() == 1
        assert len(broker.checks) == done + 1
        assert services.record_check(passed(broker.checks[-1]))
    assert Exercise.objects.filter(is_published=True).count() == THREADS


def test_an_answer_to_a_check_that_comes_many_times_at_once_publishes_once(
    standing: Standing, broker: FakeBroker
) -> None:
    publish("rmsnorm", standing)
    recorded = at_once(lambda _: services.record_check(passed(broker.checks[0])))
    assert sorted(recorded) == [False] * (THREADS - 1) + [True]
    assert Exercise.objects.get().is_published
    assert AuditEntry.objects.filter(action=AuditAction.EXERCISE_PUBLISHED).count() == 1


def test_a_check_that_passes_while_it_is_withdrawn_publishes_before_that_or_not_at_all(
    standing: Standing, broker: FakeBroker
) -> None:
    def take_back() -> bool:
        # As the admin does: the exercise first, then its check.
        with transaction.atomic():
            exercise = Exercise.objects.get()
            exercise.is_published = False
            exercise.save()
            return withdraw(exercise)

    for _ in range(4):
        ExerciseCheck.objects.all().delete()
        publish("rmsnorm", standing)
        job = broker.checks[-1]
        acts = [take_back, lambda job=job: services.record_check(passed(job))]
        withdrawn, recorded = at_once(lambda number, acts=acts: acts[number](), threads=2)
        assert withdrawn != recorded
        state = ExerciseCheck.objects.get().state
        assert state == (CheckState.WITHDRAWN if withdrawn else CheckState.PASSED)
        # Whoever takes it back last has the last word.
        assert not (withdrawn and Exercise.objects.get().is_published)
        Exercise.objects.update(is_published=False)
