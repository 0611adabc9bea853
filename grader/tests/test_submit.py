from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from gpu_worker.messages.protocol import MAX_SOURCE_BYTES, GradeJob
from grader import queries, services
from grader.models import (
    AttemptState,
    AuditEntry,
    Exercise,
    GradingAttempt,
    OutboxMessage,
    Submission,
    SubmissionState,
)
from grader.services import errors, tokens
from grader.tests.conftest import SOURCE, FakeBroker
from grader.tests.messages import attempt_of

BAD_SOURCES: list[tuple[str, str | bytes, type[errors.Refused], str]] = [
    ("empty", "", errors.SourceRefused, "empty"),
    ("blank", " \n\t\n", errors.SourceRefused, "empty"),
    ("only a byte order mark", b"\xef\xbb\xbf", errors.SourceRefused, "empty"),
    ("NUL", "x = 1\ny = '\0'\n", errors.SourceRefused, "line 2"),
    ("Latin-1", "# caf\xe9".encode("latin-1"), errors.SourceRefused, "byte 6"),
    ("UTF-16", "x = 1".encode("utf-16"), errors.SourceRefused, "UTF-8"),
    ("half a surrogate pair", "x = '\ud800'", errors.SourceRefused, "surrogate"),
    ("one byte too many", "#" * (MAX_SOURCE_BYTES + 1), errors.SourceTooLarge, "65,537"),
    ("too many bytes in few characters", "é" * 40_000, errors.SourceTooLarge, "80,000"),
    ("10 MB", b"#" * 10_000_000, errors.SourceTooLarge, "10,000,000"),
]


@pytest.mark.parametrize(
    ("source", "kind", "says"),
    [row[1:] for row in BAD_SOURCES],
    ids=[row[0] for row in BAD_SOURCES],
)
def test_a_bad_source_is_refused_with_a_reason_and_leaves_nothing(
    submit: Callable[..., Submission], source: Any, kind: type[errors.Refused], says: str
) -> None:
    with pytest.raises(kind, match=says):
        submit(source)
    assert not Submission.objects.exists()
    assert not OutboxMessage.objects.exists()


@pytest.mark.parametrize("source", ["#" * MAX_SOURCE_BYTES, "# é€😀\n", "\r\nx = 1\r\n"])
def test_a_source_up_to_the_limit_is_kept_as_it_is(
    submit: Callable[..., Submission], source: str
) -> None:
    assert Submission.objects.get(pk=submit(source.encode()).pk).source == source


def test_a_byte_order_mark_is_dropped(submit: Callable[..., Submission]) -> None:
    assert submit(b"\xef\xbb\xbfx = 1").source == "x = 1"


def test_a_submission_reaches_its_queue_with_all_a_worker_needs(
    submit: Callable[..., Submission], broker: FakeBroker
) -> None:
    submission = submit()
    job = GradeJob.from_message(broker.sent[0])
    assert (job.submission, job.exercise, job.track) == (submission.public_id, "rmsnorm", "numpy")
    assert job.source == SOURCE
    assert job.lease == attempt_of(submission).lease
    assert broker.queues == [("cpu", 0)]
    assert OutboxMessage.objects.get().sent_at is not None


def test_the_public_id_tells_nothing_of_the_next(submit: Callable[..., Submission]) -> None:
    first, second = submit(), submit("x = 2")
    assert first.public_id != second.public_id
    assert len(first.public_id) >= 12
    assert first.public_id == first.public_id.lower()


def test_unknown_closed_and_unpublished_exercises_and_tracks_are_refused(
    learner: User, exercise: Exercise
) -> None:
    with pytest.raises(errors.TrackUnknown, match="numpy"):
        services.submit(learner, exercise, "torch", SOURCE)
    exercise.accepts_submissions = False
    with pytest.raises(errors.ExerciseClosed, match="closed"):
        services.submit(learner, exercise, "numpy", SOURCE)
    exercise.is_published = False
    with pytest.raises(errors.ExerciseUnknown):
        services.submit(learner, exercise, "numpy", SOURCE)
    unknown = Exercise(slug="no-such-engine-exercise", is_published=True)
    with pytest.raises(errors.ExerciseClosed, match="cannot be graded"):
        services.submit(learner, unknown, "numpy", SOURCE)


def test_open_submissions_are_limited_per_learner(
    submit: Callable[..., Submission], other: User, settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 2}
    submit("x = 1"), submit("x = 2")
    with pytest.raises(errors.TooMany) as caught:
        submit("x = 3")
    assert caught.value.retry_after_seconds > 0
    submit("x = 4", user=other)  # Somebody else is not held up.


def test_the_rate_of_submissions_is_limited_and_says_when_to_come_back(
    submit: Callable[..., Submission], settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "SUBMISSIONS_PER_MINUTE": 2}
    for text in ("x = 1", "x = 2"):
        _finish(submit(text))
    with pytest.raises(errors.TooMany) as caught:
        submit("x = 3")
    assert 55 <= caught.value.retry_after_seconds <= 61
    Submission.objects.update(created_at=timezone.now() - timedelta(seconds=61))
    submit("x = 3")


def _finish(submission: Submission) -> None:
    submission.attempts.update(state=AttemptState.FINISHED)
    Submission.objects.filter(pk=submission.pk).update(
        state=SubmissionState.FINISHED, outcome="accepted", score=1.0, finished_at=timezone.now()
    )


def test_the_same_key_and_content_is_one_submission(submit: Callable[..., Submission]) -> None:
    assert submit(idempotency_key="k") == submit(idempotency_key="k")
    assert GradingAttempt.objects.count() == 1


def test_the_same_key_with_other_content_is_refused(submit: Callable[..., Submission]) -> None:
    submit(idempotency_key="k")
    with pytest.raises(errors.KeyReused):
        submit("x = 2", idempotency_key="k")
    with pytest.raises(errors.KeyRefused):
        submit("x = 2", idempotency_key="k" * 201)


def test_two_learners_may_use_the_same_key(submit: Callable[..., Submission], other: User) -> None:
    assert submit(idempotency_key="k") != submit(idempotency_key="k", user=other)


def test_a_retry_with_its_key_is_answered_even_at_the_limit(
    submit: Callable[..., Submission], settings: Any
) -> None:
    settings.GRADING = {**settings.GRADING, "MAX_OPEN_SUBMISSIONS_PER_LEARNER": 1}
    assert submit(idempotency_key="k") == submit(idempotency_key="k")


class TestBrokerDown:
    def test_the_submission_is_kept_and_sent_when_the_broker_is_back(
        self, submit: Callable[..., Submission], broker: FakeBroker
    ) -> None:
        broker.down = True
        submission = submit()
        message = OutboxMessage.objects.get()
        assert (message.sent_at, message.failures) == (None, 1)
        assert "refused" in message.last_error
        assert services.send_outbox() == 0
        broker.down = False
        assert services.send_outbox() == 1
        assert [job["submission"] for job in broker.sent] == [submission.public_id]
        assert services.send_outbox() == 0

    def test_the_learner_is_told(
        self, submit: Callable[..., Submission], broker: FakeBroker
    ) -> None:
        broker.down = True
        attempt = attempt_of(submit())
        assert queries.queue_is_unreachable(attempt)
        broker.down = False
        services.send_outbox()
        assert not queries.queue_is_unreachable(attempt_of(attempt.submission))

    def test_one_failure_ends_a_run_of_the_outbox(
        self, submit: Callable[..., Submission], broker: FakeBroker
    ) -> None:
        broker.down = True
        submit("x = 1"), submit("x = 2")
        OutboxMessage.objects.update(failures=0)
        services.send_outbox()
        assert sorted(OutboxMessage.objects.values_list("failures", flat=True)) == [0, 1]

    def test_a_message_that_is_being_sent_is_not_sent_by_another(
        self, submit: Callable[..., Submission], broker: FakeBroker
    ) -> None:
        broker.down = True
        submit()
        broker.down = False
        soon = timezone.now() + timedelta(seconds=5)
        OutboxMessage.objects.update(locked_until=soon)
        assert services.send_outbox() == 0
        OutboxMessage.objects.update(locked_until=timezone.now() - timedelta(seconds=1))
        assert services.send_outbox() == 1


class TestTokens:
    def test_only_a_digest_is_kept(self, learner: User) -> None:
        row, token = services.create_token(learner, "laptop", ["read"])
        stored = {str(value) for value in vars(row).values()}
        assert token not in stored
        assert tokens.find_token(token) == row
        assert tokens.find_token(token + "x") is None
        assert tokens.find_token("") is None

    def test_expired_and_revoked_tokens_and_those_of_inactive_users_end(
        self, learner: User
    ) -> None:
        row, token = services.create_token(learner, "laptop", ["read"])
        services.revoke_token(learner, row)
        assert tokens.find_token(token) is None
        row, token = services.create_token(learner, "laptop", ["read"])
        type(row).objects.filter(pk=row.pk).update(expires_at=timezone.now())
        assert tokens.find_token(token) is None
        _, token = services.create_token(learner, "laptop", ["read"])
        User.objects.update(is_active=False)
        assert tokens.find_token(token) is None

    def test_a_learner_gets_no_scope_of_graders(self, learner: User, grader: User) -> None:
        with pytest.raises(errors.Refused, match="grade"):
            services.create_token(learner, "laptop", ["grade"])
        services.create_token(grader, "laptop", ["grade"])

    def test_acts_on_tokens_are_in_the_audit_without_secrets(self, learner: User) -> None:
        row, token = services.create_token(learner, "laptop", ["read"])
        services.revoke_token(learner, row)
        services.revoke_token(learner, row)
        actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
        assert actions == ["token.created", "token.revoked"]
        assert token not in str(list(AuditEntry.objects.values()))

    def test_only_the_owner_revokes(self, learner: User, other: User) -> None:
        row, _ = services.create_token(learner, "laptop", ["read"])
        with pytest.raises(errors.NotAllowed):
            services.revoke_token(other, row)


def test_an_audit_entry_cannot_be_changed_or_deleted(learner: User) -> None:
    services.create_token(learner, "laptop", ["read"])
    entry = AuditEntry.objects.get()
    with pytest.raises(TypeError):
        entry.save()
    with pytest.raises(TypeError):
        entry.delete()
