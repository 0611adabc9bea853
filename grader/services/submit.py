"""Accept a source: validate it, store it, and start its first grading attempt."""

from __future__ import annotations

import hashlib
import logging
from datetime import timedelta
from functools import partial

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from gpu_worker import logs
from gpu_worker.messages.queues import PRIORITY_LEARNER, PRIORITY_REGRADE
from grader import limits
from grader.access import may_resubmit
from grader.models import (
    AttemptState,
    AuditAction,
    Exercise,
    GradingAttempt,
    SecondVerdict,
    Submission,
    SubmissionState,
    Track,
)
from grader.registry import find_spec

from .attempts import start_attempt
from .audit import record_act
from .errors import (
    ExerciseClosed,
    ExerciseUnknown,
    KeyRefused,
    KeyReused,
    NotAllowed,
    NotResubmittable,
    TooMany,
    TrackUnknown,
)
from .sources import check_source
from .verdicts import reopen_ungraded
from .withdraw import withdraw_older

logger = logging.getLogger(__name__)

RETRY_WHEN_QUEUE_MOVES_SECONDS = 15
RATE_WINDOW = timedelta(seconds=60)


def submit(
    user: User,
    exercise: Exercise,
    track: str,
    source: str | bytes,
    idempotency_key: str | None = None,
) -> Submission:
    """Store one submission and queue it for grading.

    The same `idempotency_key` with the same content returns the existing submission, however often
    and concurrently it is sent. A queue that is down is no failure: the submission is stored and
    sent later.

    Raises:
        Refused: one of its kinds, with a text for the learner; nothing was stored.
    """
    text = check_source(source)
    check_track(exercise, track)
    key = _check_key(idempotency_key)
    digest = hashlib.sha256(text.encode()).hexdigest()
    try:
        with transaction.atomic():
            _lock_learner(user)
            if key and (earlier := _by_key(user, key)):
                return _same_or_refused(earlier, exercise, track, digest)
            _check_open(exercise)
            _check_quota(user)
            submission = Submission.objects.create(
                user=user,
                exercise=exercise,
                track=track,
                kind=Track(track).kind,
                source=text,
                source_sha256=digest,
                source_bytes=len(text.encode()),
                idempotency_key=key,
            )
            start_attempt(submission, submission.kind, priority=PRIORITY_LEARNER)
            if second := Track(track).second_kind:
                SecondVerdict.objects.create(submission=submission, kind=second)
                start_attempt(submission, second, priority=PRIORITY_LEARNER)
                withdraw_older(submission)
            transaction.on_commit(partial(_tell, submission))
            return submission
    except IntegrityError:
        # Where rows cannot be locked, the unique key still lets only one through.
        if key and (earlier := _by_key(user, key)):
            return _same_or_refused(earlier, exercise, track, digest)
        raise


def resubmit(user: User, submission: Submission) -> Submission:
    """Send a submission again that the platform failed to grade. It costs the learner nothing.

    Where one of two verdicts failed, or was replaced by a newer submission's, only that one is
    requested again.

    Raises:
        NotAllowed: it is another learner's.
        NotResubmittable: it was graded, or is being graded.
        TooMany: too many of the learner's submissions wait already.
    """
    if not may_resubmit(user, submission):
        raise NotAllowed("Only the submission's learner or a grader can send it again.")
    with transaction.atomic():
        learner = _lock_learner(submission.user)
        _check_open(submission.exercise)
        _check_quota(learner)
        before = _verdicts(submission)
        again = _reopened(submission)
        if not again:
            raise NotResubmittable(
                "Only what could not be graded, or what a newer submission replaced, can be sent "
                "again. "
                "To try something else, make a new submission."
            )
        submission.refresh_from_db()
        for kind in again:
            counts = kind == submission.kind
            if not counts and user == learner:
                _check_seconds(learner)
            # The verdict that does not count goes behind everything that was not graded yet.
            priority = PRIORITY_LEARNER if counts else PRIORITY_REGRADE
            start_attempt(submission, kind, priority=priority)
        queued = {"state": SubmissionState.QUEUED, "outcome": None}
        record_act(
            user,
            AuditAction.SUBMISSION_RESUBMITTED,
            f"submission:{submission.public_id}",
            before={kind: before[kind] for kind in again},
            after=dict.fromkeys(again, queued),
        )
    return submission


def _tell(submission: Submission) -> None:
    logs.note(submission=submission.public_id)
    logger.info(
        "Submission %s: taken for %s on %s",
        *(submission.public_id, submission.exercise.slug, submission.track),
    )


def _verdicts(submission: Submission) -> dict[str, dict[str, str | None]]:
    """Return state and outcome by kind of node."""
    names = ("kind", "state", "outcome")
    rows = [
        *Submission.objects.filter(pk=submission.pk).values_list(*names),
        *SecondVerdict.objects.filter(submission=submission.pk).values_list(*names),
    ]
    return {kind: {"state": state, "outcome": outcome} for kind, state, outcome in rows}


def _reopened(submission: Submission) -> list[str]:
    """Reset the verdicts that could not be given; return their kinds of node."""
    own = Submission.objects.filter(pk=submission.pk)
    seconds = SecondVerdict.objects.filter(submission=submission.pk)
    kinds = [submission.kind] if reopen_ungraded(own, updated_at=timezone.now()) else []
    if reopen_ungraded(seconds):
        kinds.append(seconds.get().kind)
    return kinds


def _lock_learner(user: User) -> User:
    """Serialise a learner's submissions, so that counting them is reliable."""
    return User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _by_key(user: User, key: str) -> Submission | None:
    return (
        Submission.objects.select_related("exercise").filter(user=user, idempotency_key=key).first()
    )


def _same_or_refused(
    earlier: Submission, exercise: Exercise, track: str, digest: str
) -> Submission:
    same = (
        earlier.exercise_id == exercise.pk
        and earlier.track == track
        and earlier.source_sha256 == digest
    )
    if not same:
        raise KeyReused(
            "This idempotency key belongs to an earlier submission with other content. "
            "Use a new key for a new submission."
        )
    return earlier


def _check_key(key: str | None) -> str | None:
    if not key:
        return None
    if len(key) > limits.MAX_IDEMPOTENCY_KEY_CHARACTERS or not key.isprintable():
        raise KeyRefused(
            "An idempotency key has at most "
            f"{limits.MAX_IDEMPOTENCY_KEY_CHARACTERS} printable characters."
        )
    return key


def check_track(exercise: Exercise, track: str) -> None:
    if not exercise.is_published:
        raise ExerciseUnknown("There is no such exercise.")
    spec = find_spec(exercise.slug)
    if spec is None:
        raise ExerciseClosed(
            "This exercise cannot be graded on this installation at the moment. "
            "Keep your source and try again later."
        )
    offered = [str(name) for name in spec.tracks]
    if track not in offered:
        raise TrackUnknown(
            f"The exercise {exercise.slug} has the tracks {', '.join(offered)}; choose one of them."
        )


def _check_open(exercise: Exercise) -> None:
    if not exercise.accepts_submissions:
        raise ExerciseClosed("This exercise is closed: it takes no new submissions.")


def _check_seconds(user: User) -> None:
    """Refuse another repeated second verdict to a learner who waits for many."""
    waiting = GradingAttempt.objects.filter(
        submission__user=user,
        priority=PRIORITY_REGRADE,
        regrade_item__isnull=True,
        state__in=AttemptState.open(),
    ).count()
    if waiting >= limits.max_open_submissions():
        raise TooMany(
            f"You wait for {waiting} second verdicts that you asked for again, and that is the "
            "most at once. Ask for this one when one of them is there.",
            RETRY_WHEN_QUEUE_MOVES_SECONDS,
        )


def _check_quota(user: User) -> None:
    """Refuse one more submission of a learner who has too many, or sent too many lately."""
    own = Submission.objects.filter(user=user)
    open_count = own.exclude(state=SubmissionState.FINISHED).count()
    if open_count >= limits.max_open_submissions():
        raise TooMany(
            f"{open_count} of your submissions still wait for their verdicts, and that is the "
            "most that may wait at once. Send this one when one of them is finished.",
            RETRY_WHEN_QUEUE_MOVES_SECONDS,
        )
    now = timezone.now()
    recent = list(
        own.filter(created_at__gt=now - RATE_WINDOW)
        .order_by("-created_at")
        .values_list("created_at", flat=True)[: limits.submissions_per_minute()]
    )
    if len(recent) >= limits.submissions_per_minute():
        wait = max(1, round((recent[-1] + RATE_WINDOW - now).total_seconds() + 0.5))
        raise TooMany(
            f"You made {len(recent)} submissions within a minute, which is the most allowed. "
            f"Try again in {wait} seconds.",
            wait,
        )
