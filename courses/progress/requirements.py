"""Named requirements of a chapter, and its completion: written once, never revoked."""

from __future__ import annotations

from django.db import transaction

from courses.models import Chapter, ChapterCompletion, Learner, RequirementMet

QUIZ = "quiz"


def mark_met(learner: Learner, chapter: Chapter, name: str) -> bool:
    """Record that `learner` meets requirement `name`; complete the chapter if it was the last.

    Idempotent, and safe from any number of processes. Returns True only for the one call that
    completed the chapter. A name that the chapter does not require is recorded too: it counts as
    soon as an author requires it.
    """
    with transaction.atomic():
        RequirementMet.objects.get_or_create(learner=learner, chapter=chapter, name=name)
        return complete_if_met(learner, chapter)


def complete_if_met(learner: Learner, chapter: Chapter) -> bool:
    """Record the completion if every requirement is met; True only for the call that wrote it.

    A chapter without requirements is never completed automatically.
    """
    required = set(chapter.requirements)
    met = set(
        RequirementMet.objects.filter(learner=learner, chapter=chapter).values_list(
            "name", flat=True
        )
    )
    if not required or not required <= met:
        return False
    _, created = ChapterCompletion.objects.get_or_create(
        learner=learner,
        chapter=chapter,
        defaults={"revision_id": chapter.current_revision_id},
    )
    return created
