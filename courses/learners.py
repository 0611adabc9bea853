"""Learners: an account, or a session without one until its visitor signs up or in.

Reading a page never creates a session or a row; the first answer does.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from itertools import islice
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from courses.models import ChapterCompletion, Learner, QuizAttempt, RequirementMet

SESSION_KEY = "learner"
# The row of a new learner is there a moment before its session is.
YOUNGEST_FORGOTTEN = timedelta(days=1)
FORGOTTEN_AT_ONCE = 500


def learner_of(user: User) -> Learner:
    """Return the account's learner, creating it on first use; safe against concurrent calls."""
    learner, _ = Learner.objects.get_or_create(user=user)
    return learner


def learner_for(request: HttpRequest) -> Learner:
    """Return the learner of this request, creating one if needed.

    A visitor without an account gets a session that remembers the learner.
    """
    lookup = learner_lookup(request)
    learner = Learner.objects.filter(**lookup).first() if lookup is not None else None
    if learner is not None:
        return learner
    if isinstance(request.user, AbstractUser):
        return learner_of(request.user)
    learner = Learner.objects.create()
    request.session[SESSION_KEY] = str(learner.pk)
    return learner


def order_seed(request: HttpRequest) -> str:
    """Return the seed that orders this learner's choices and steps.

    Each account has its own order. Visitors share one: their page is the same for all until the
    first answer makes them learners, and the order must not change at that moment.
    """
    return f"account {request.user.pk}" if request.user.is_authenticated else "visitors"


def learner_lookup(request: HttpRequest, prefix: str = "") -> dict[str, Any] | None:
    """Return filter arguments that find this request's learner, None where there is none.

    `prefix` is the path from the filtered model to the learner, such as "learner__", so that a page
    can query a learner's rows without querying the learner first.
    """
    if request.user.is_authenticated:
        return {f"{prefix}user_id": request.user.pk}
    learner_id = _session_learner_id(request)
    if learner_id is None:
        return None
    return {f"{prefix}id": learner_id, f"{prefix}user": None}


def _session_learner_id(request: HttpRequest) -> uuid.UUID | None:
    return _learner_id(request.session.get(SESSION_KEY))


def _learner_id(kept: Any) -> uuid.UUID | None:
    try:
        return uuid.UUID(str(kept))
    except ValueError:
        return None


def forget_visitors() -> int:
    """Delete expired sessions, and learners without an account that no session refers to.

    Returns the number of learners deleted, with their answers and completions.
    """
    now = timezone.now()
    Session.objects.filter(expire_date__lt=now).delete()
    sessions = (session.get_decoded() for session in Session.objects.iterator())
    known = {_learner_id(session.get(SESSION_KEY)) for session in sessions}
    visitors = Learner.objects.filter(user=None, created_at__lt=now - YOUNGEST_FORGOTTEN)
    lost = iter([pk for pk in visitors.values_list("pk", flat=True) if pk not in known])
    forgotten = 0
    while some := list(islice(lost, FORGOTTEN_AT_ONCE)):
        # One that signed up meanwhile has an account by now, and stays.
        _, deleted = Learner.objects.filter(pk__in=some, user=None).delete()
        forgotten += deleted.get(Learner._meta.label, 0)
    return forgotten


def merge_on_login(
    sender: type[AbstractBaseUser], request: HttpRequest | None, user: User, **kwargs: Any
) -> None:
    """Signal receiver: move the session's progress to the account, on sign-up and sign-in."""
    if request is None or not hasattr(request, "session"):
        return
    learner_id = _session_learner_id(request)
    request.session.pop(SESSION_KEY, None)
    if learner_id is not None:
        merge(learner_id, user)


def merge(learner_id: uuid.UUID, user: User) -> None:
    """Give a session learner's answers and completions to the account's learner.

    Nothing is lost and nothing doubled: attempts are numbered on after the account's own, except
    those at questions that the account has answered right already.
    """
    with transaction.atomic():
        source = Learner.objects.select_for_update().filter(pk=learner_id, user=None).first()
        if source is None:
            return
        target = learner_of(user)
        _move_attempts(source, target)
        _move_requirements(source, target)
        _move_completions(source, target)
        source.delete()
        _recheck_chapters(target)


def _move_attempts(source: Learner, target: Learner) -> None:
    last_number: dict[tuple[int, str], int] = {}
    last_answer: dict[tuple[int, str], tuple[str, Any]] = {}
    right: set[tuple[int, str, str]] = set()
    for attempt in target.attempts.order_by("number"):
        question = (attempt.chapter_id, attempt.question_key)
        last_number[question] = attempt.number
        last_answer[question] = (attempt.question_version, attempt.answer)
        if attempt.correct:
            right.add((*question, attempt.question_version))
    for attempt in source.attempts.order_by("number"):
        question = (attempt.chapter_id, attempt.question_key)
        given = (attempt.question_version, attempt.answer)
        if (*question, attempt.question_version) in right or last_answer.get(question) == given:
            continue
        number = last_number.get(question, 0) + 1
        QuizAttempt.objects.filter(pk=attempt.pk).update(learner=target, number=number)
        last_number[question] = number
        last_answer[question] = given


def _move_requirements(source: Learner, target: Learner) -> None:
    for met in source.requirements_met.all():
        row, created = RequirementMet.objects.get_or_create(
            learner=target, chapter_id=met.chapter_id, name=met.name
        )
        if created:
            RequirementMet.objects.filter(pk=row.pk).update(met_at=met.met_at)


def _move_completions(source: Learner, target: Learner) -> None:
    for completion in source.completions.all():
        row, created = ChapterCompletion.objects.get_or_create(
            learner=target,
            chapter_id=completion.chapter_id,
            defaults={"revision_id": completion.revision_id},
        )
        if created:
            ChapterCompletion.objects.filter(pk=row.pk).update(completed_at=completion.completed_at)


def _recheck_chapters(learner: Learner) -> None:
    """Complete chapters answered partly before signing in and partly after."""
    from courses.quiz.attempts import meet_quiz_if_done

    chapters = {
        attempt.chapter_id: attempt.chapter
        for attempt in learner.attempts.select_related("chapter__current_revision")
    }
    for chapter in chapters.values():
        meet_quiz_if_done(learner, chapter)
