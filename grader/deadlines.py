"""Deadlines of submissions, and which submissions are late: computed, never stored.

The time of submission decides, not that of the verdict: neither a long queue nor a missing GPU
makes anything late, and no regrade does. A deadline is shown to the minute and includes that
minute, so a submission at 23:59:59 is in time where pages say 23:59. Only the two times are stored,
so moving a deadline takes effect at once.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Case, DateTimeField, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce, Greatest, TruncMinute
from django.db.models.lookups import GreaterThan, LessThanOrEqual

from .models import Exercise, Extension, Submission

_MINUTES = (TruncMinute("created_at"), TruncMinute("deadline"))
LATE = Q(GreaterThan(*_MINUTES))
"""For submissions `with_deadline`: those that came after its minute."""
IN_TIME = Q(deadline__isnull=True) | Q(LessThanOrEqual(*_MINUTES))


def with_deadline(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Annotate each submission with its learner's `deadline`; None where there is none."""
    own = Extension.objects.filter(exercise=OuterRef("exercise"), user=OuterRef("user"))
    return submissions.annotate(deadline=_deadline("exercise__due_at", own))


def exercises_with_deadline(
    exercises: QuerySet[Exercise], user: User | AnonymousUser
) -> QuerySet[Exercise]:
    """Annotate each exercise with the user's `deadline`; None where there is none."""
    if not user.is_authenticated:
        return exercises.annotate(deadline=F("due_at"))
    own = Extension.objects.filter(exercise=OuterRef("pk"), user=user)
    return exercises.annotate(deadline=_deadline("due_at", own))


def deadline_of(submission: Submission) -> datetime | None:
    """Return the deadline of a submission's learner; a query unless it was annotated."""
    if "deadline" in submission.__dict__:
        return _read(submission)
    return deadline_for(submission.exercise, submission.user)


def deadline_for(exercise: Exercise, user: User | AnonymousUser) -> datetime | None:
    """Return a user's deadline for an exercise; None where there is none."""
    if "deadline" in exercise.__dict__:
        return _read(exercise)
    due_at = exercise.due_at
    if due_at is None or not user.is_authenticated:
        return due_at
    extension = Extension.objects.filter(exercise=exercise, user=user).first()
    return max(due_at, extension.due_at) if extension else due_at


def is_late(submission: Submission) -> bool:
    """Return whether it was submitted after its learner's deadline."""
    return is_past(deadline_of(submission), submission.created_at)


def is_past(deadline: datetime | None, moment: datetime) -> bool:
    """Return whether a deadline's minute is over at a given time."""
    return deadline is not None and minute_of(moment) > minute_of(deadline)


def minute_of(moment: datetime) -> datetime:
    """Return the beginning of an aware time's minute."""
    return moment.replace(second=0, microsecond=0)


def _read(row: Any) -> datetime | None:
    deadline: datetime | None = row.deadline
    return deadline


def _deadline(due: str, extensions: QuerySet[Extension]) -> Case:
    """Return the later of the exercise's deadline and the extension; None without a deadline."""
    extended = Coalesce(Subquery(extensions.values("due_at")[:1]), F(due))
    later = When(Q(**{f"{due}__isnull": False}), then=Greatest(F(due), extended))
    return Case(later, output_field=DateTimeField())
