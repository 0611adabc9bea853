"""Read queries of pages and REST: exercises, submissions, queues and regrades."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Case, Count, F, OuterRef, Q, QuerySet, Subquery, When
from django.utils import timezone

from courses.models import Chapter, Course
from gpu_worker.messages.queues import PRIORITY_LEARNER

from . import limits
from .deadlines import exercises_with_deadline, minute_of, with_deadline
from .models import (
    AttemptState,
    Draft,
    Exercise,
    GradingAttempt,
    OutboxMessage,
    Outcome,
    Queue,
    RegradeRun,
    Submission,
    SubmissionState,
    WorkerNode,
)

# Workers report every 30 s; after three missed reports a node counts as gone.
NODE_SILENCE = timedelta(seconds=100)


def own_submissions(user: User | AnonymousUser) -> QuerySet[Submission]:
    """Return the user's own submissions, newest first, without their sources and reports."""
    if not user.is_authenticated:
        return Submission.objects.none()
    return (
        with_deadline(Submission.objects.filter(user=user))
        .select_related("exercise")
        .defer("source", "report")
        .order_by("-created_at", "-id")
    )


# By the chapter's position, then by its own; exercises without a chapter come last.
IN_ORDER = (
    F("chapter__course__position").asc(nulls_last=True),
    F("chapter__course__slug").asc(nulls_last=True),
    F("chapter__position").asc(nulls_last=True),
    F("chapter__slug").asc(nulls_last=True),
    "position",
    "slug",
)


def published_exercises() -> QuerySet[Exercise]:
    """Return the exercises that are open to learners, in the order of the course.

    An exercise of an unpublished chapter is not open, like everything else in that chapter.
    """
    shown = Q(chapter__isnull=True) | Q(chapter__published=True)
    exercises = Exercise.objects.filter(shown, is_published=True)
    return exercises.select_related("chapter__course").order_by(*IN_ORDER)


def visible_exercises(user: User | AnonymousUser) -> QuerySet[Exercise]:
    """Return the published exercises; for authors, all of them."""
    if user.has_perm("grader.change_exercise"):
        return Exercise.objects.select_related("chapter__course")
    return published_exercises()


def open_attempt(submission: Submission, kind: str | None = None) -> GradingAttempt | None:
    """Return the open attempt for a kind of node, by default for the verdict that counts."""
    return (
        submission.attempts.filter(
            state__in=AttemptState.open(), regrade_item__isnull=True, kind=kind or submission.kind
        )
        .select_related("outbox")
        .order_by("-number")
        .first()
    )


def attempts_ahead(attempt: GradingAttempt) -> int:
    """Return how many open attempts are served before this one.

    Simulates the queue: the broker serves messages in the order in which they were sent, and each
    attempt that ends lets its learner's next one join at the end (see `services.dispatch`). An
    attempt of lower priority comes after all others, and after earlier ones of its own priority.
    """
    rows = GradingAttempt.objects.filter(
        queue=attempt.queue, state__in=AttemptState.open()
    ).order_by(F("outbox__sent_at").asc(nulls_last=True), "id")
    if attempt.priority > PRIORITY_LEARNER:
        first = rows.filter(priority__lt=attempt.priority).count()
        alike = list(rows.filter(priority=attempt.priority).values_list("pk", flat=True))
        return first + (alike.index(attempt.pk) if attempt.pk in alike else len(alike))
    rows = rows.filter(priority=PRIORITY_LEARNER)
    line: list[tuple[int, int]] = []
    held: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
    on_queue: Counter[int] = Counter()
    for pk, learner, sent_at in rows.values_list("pk", "submission__user", "outbox__sent_at"):
        may_go = sent_at is not None or on_queue[learner] < limits.jobs_on_queue_per_learner()
        (line if may_go else held[learner]).append((pk, learner))
        on_queue[learner] += may_go
    for place, (pk, learner) in enumerate(line):
        if pk == attempt.pk:
            return place
        if held[learner]:
            line.append(held[learner].popleft())
    return len(line)


def queue_position(submission: Submission, kind: str | None = None) -> int | None:
    """Return the position in the queue, 1 being next; None once a worker has it.

    For a kind of node, by default for the verdict that counts.
    """
    attempt = open_attempt(submission, kind)
    if attempt is None or attempt.state != AttemptState.QUEUED:
        return None
    return attempts_ahead(attempt) + 1


def queue_is_unreachable(attempt: GradingAttempt) -> bool:
    """Return whether the attempt waits because the broker could not be reached."""
    outbox: OutboxMessage | None = getattr(attempt, "outbox", None)
    return outbox is not None and outbox.sent_at is None and outbox.failures > 0


def live_nodes() -> QuerySet[WorkerNode]:
    return WorkerNode.objects.filter(last_seen_at__gte=timezone.now() - NODE_SILENCE)


def chapter_exercises(chapter: Chapter, user: User | AnonymousUser) -> list[Exercise]:
    """Return a chapter's published exercises with the user's best and last results.

    One query, whatever the number of exercises and submissions; `brief` reads the results.
    """
    exercises = (
        exercises_with_deadline(Exercise.objects.filter(chapter=chapter, is_published=True), user)
        .defer("statement", "statement_html")
        .order_by("position", "slug")
    )
    return list(_with_results(exercises, user))


def exercises_with_end(
    user: User | AnonymousUser, course: Course | None = None, after: datetime | None = None
) -> list[Exercise]:
    """Return the open exercises with a deadline, earliest first, like `chapter_exercises`.

    Of one course, or of all; with `after`, only those whose deadline has not passed then.
    """
    exercises = exercises_with_deadline(published_exercises(), user)
    exercises = exercises.filter(Q(deadline__isnull=False))
    if course is not None:
        exercises = exercises.filter(chapter__course=course)
    if after is not None:
        exercises = exercises.filter(Q(deadline__gte=minute_of(after)))
    exercises = exercises.defer("statement", "statement_html", "summary", "summary_html")
    return list(_with_results(exercises.order_by(F("deadline"), *IN_ORDER), user))


def _with_results(exercises: QuerySet[Exercise], user: User | AnonymousUser) -> QuerySet[Exercise]:
    """Annotate each exercise with the user's best and last results, for `brief`."""
    if not user.is_authenticated:
        return exercises
    own = Submission.objects.filter(exercise=OuterRef("pk"), user=user)
    best = own.filter(score__isnull=False).order_by("-score", "-id")
    last = own.order_by("-id")
    return exercises.annotate(
        best_id=Subquery(best.values("public_id")[:1]),
        best_outcome=Subquery(best.values("outcome")[:1]),
        best_score=Subquery(best.values("score")[:1]),
        last_id=Subquery(last.values("public_id")[:1]),
        last_state=Subquery(last.values("state")[:1]),
        last_outcome=Subquery(last.values("outcome")[:1]),
        last_score=Subquery(last.values("score")[:1]),
    )


def brief(exercise: Exercise, which: Literal["best", "last"]) -> Submission | None:
    """Return the result that `chapter_exercises` annotated, None without one.

    It has public_id, state, outcome and score, and is not for saving.
    """
    public_id = getattr(exercise, f"{which}_id", None)
    if public_id is None:
        return None
    return Submission(
        public_id=public_id,
        state=getattr(exercise, f"{which}_state", SubmissionState.FINISHED),
        outcome=getattr(exercise, f"{which}_outcome"),
        score=getattr(exercise, f"{which}_score"),
    )


def draft_of(user: User | AnonymousUser, exercise: Exercise, track: str) -> Draft | None:
    """Return the learner's stored draft, if there is one."""
    if not user.is_authenticated:
        return None
    return Draft.objects.filter(user=user, exercise=exercise, track=track).first()


def submission_before(submission: Submission) -> str | None:
    """Return the id of the learner's previous submission of the same exercise and track."""
    earlier = Submission.objects.filter(
        user=submission.user_id, exercise=submission.exercise_id, track=submission.track
    )
    before = earlier.filter(pk__lt=submission.pk).order_by("-pk")
    return before.values_list("public_id", flat=True).first()


def graded_on_another_track(submission: Submission) -> Submission | None:
    """Return the learner's submission on another track to compare the results with.

    The latest accepted one, or the latest with a score.
    """
    others = Submission.objects.filter(
        user=submission.user_id, exercise=submission.exercise_id, outcome__in=Outcome.scored()
    ).exclude(track=submission.track)
    is_accepted = Case(When(outcome=Outcome.ACCEPTED, then=1), default=0)
    return others.defer("source").order_by(is_accepted.desc(), "-id").first()


def counted_attempts(user: User, exercise: Exercise) -> int:
    """Return the number of the user's submissions that count as attempts."""
    return (
        Submission.objects.filter(user=user, exercise=exercise, state=SubmissionState.FINISHED)
        .exclude(outcome=Outcome.NOT_GRADABLE)
        .count()
    )


def is_alive(node: WorkerNode) -> bool:
    return node.last_seen_at >= timezone.now() - NODE_SILENCE


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """The numbers of a queue's attempts: waiting, with a worker, in the outbox."""

    name: str
    queued: int
    running: int
    unsent: int


def queue_loads() -> list[QueueLoad]:
    """Return the loads of all queues, in one query."""
    waiting = Q(state=AttemptState.QUEUED)
    rows = (
        GradingAttempt.objects.filter(state__in=AttemptState.open())
        .order_by()
        .values_list("queue")
        .annotate(
            queued=Count("id", filter=waiting),
            running=Count("id", filter=~waiting),
            unsent=Count("id", filter=waiting & Q(outbox__sent_at__isnull=True)),
        )
    )
    loads = {row[0]: QueueLoad(*row) for row in rows}
    return [loads.get(queue, QueueLoad(queue, 0, 0, 0)) for queue in Queue.values]


@dataclass(frozen=True, slots=True)
class RegradeNumbers:
    """The numbers of a run's submissions, by change and by state."""

    changes: dict[str, int]
    states: dict[str, int]


def regrade_numbers(run: RegradeRun) -> RegradeNumbers:
    items = list(run.items.defer("report", "old_report"))
    return RegradeNumbers(
        dict(Counter(item.change for item in items)), dict(Counter(item.state for item in items))
    )
