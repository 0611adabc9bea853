"""Deadline extensions for single learners. Nothing is graded again: lateness is computed, not
stored.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from grader.access import may_change_submissions
from grader.deadlines import minute_of
from grader.models import AuditAction, Exercise, Extension

from .audit import record_act
from .decide import checked_reason
from .errors import DecisionRefused, NotAllowed


def give_extension(
    by: User, exercise: Exercise, learner: User, due_at: datetime, reason: str
) -> Extension:
    """Extend a learner's deadline for an exercise to `due_at`, an aware time.

    A former extension is replaced.

    Raises:
        NotAllowed: the person may not change submissions.
        DecisionRefused: the time is no later than the deadline, there is none, or no usable reason.
    """
    _check_allowed(by)
    text = checked_reason(reason)
    if exercise.due_at is None:
        raise DecisionRefused("This exercise has no deadline, so nothing is late.", "exercise")
    if minute_of(due_at) <= minute_of(exercise.due_at):
        raise DecisionRefused(
            f"The deadline is {exercise.due_at:%Y-%m-%d %H:%M} UTC. An extension ends after it.",
            "due_at",
        )
    with transaction.atomic():
        former = Extension.objects.filter(exercise=exercise, user=learner).first()
        extension, _ = Extension.objects.update_or_create(
            exercise=exercise,
            user=learner,
            defaults={"due_at": due_at, "reason": text, "created_by": by},
        )
        record_act(
            by,
            AuditAction.EXTENSION_GIVEN,
            f"exercise:{exercise.slug}",
            before=_values(former) if former else None,
            after=_values(extension),
            learner=learner.get_username(),
        )
    return extension


def remove_extension(by: User, extension: Extension) -> None:
    """Restore the exercise's deadline for the learner.

    Raises:
        NotAllowed: the person may not change submissions.
    """
    _check_allowed(by)
    with transaction.atomic():
        record_act(
            by,
            AuditAction.EXTENSION_REMOVED,
            f"exercise:{extension.exercise.slug}",
            before=_values(extension),
            learner=extension.user.get_username(),
        )
        extension.delete()


def _values(extension: Extension) -> dict[str, Any]:
    return {"due_at": extension.due_at, "reason": extension.reason}


def _check_allowed(by: User) -> None:
    if not may_change_submissions(by):
        raise NotAllowed("Only graders give a learner more time.")
