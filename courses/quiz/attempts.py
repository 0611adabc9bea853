"""Recording answers: each counts once, however often and from wherever it is sent."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import IntegrityError, transaction

from courses.models import Chapter, ChapterRevision, Learner, QuizAttempt
from courses.progress.requirements import QUIZ, mark_met

from .kinds import Given, check

# Each retry means that the same learner answered the same question in between.
MAX_TRIES = 50


def answer_question(
    learner: Learner, revision: ChapterRevision, question_key: str, given: Given
) -> QuizAttempt:
    """Judge and record an answer; return its attempt, or the existing one that stands for it.

    Repeating the last answer (a double click, a second tab) makes no new attempt, nor does any
    answer after a right one. Completes the chapter if this was the last question of its last
    requirement. `question_key` must be one of the revision's.
    """
    attempt = _record(learner, revision, question_key, given)
    if attempt.correct:
        # After the attempt is committed: of two final answers at once, the later check sees
        # both.
        meet_quiz_if_done(learner, revision.chapter)
    return attempt


def meet_quiz_if_done(learner: Learner, chapter: Chapter) -> bool:
    """Mark the quiz as met if every question is answered; True if that completed a chapter.

    Only answers to the questions of the chapter's current revision count.
    """
    revision = chapter.current_revision
    if revision is None:
        return False
    right = learner.attempts.filter(chapter=chapter, correct=True).values_list(
        "question_key", "question_version"
    )
    if not revision.question_versions or count_done(revision.question_versions, right) < len(
        revision.question_versions
    ):
        return False
    return mark_met(learner, chapter, QUIZ)


def count_done(versions: dict[str, str], right: Iterable[tuple[str, str]]) -> int:
    """Return how many questions have a right answer, given as (key, version), to this version."""
    return len(versions.items() & set(right))


def _record(
    learner: Learner, revision: ChapterRevision, question_key: str, given: Given
) -> QuizAttempt:
    version = revision.question_versions[question_key]
    correct = check(revision.answers[question_key], given).correct
    for _ in range(MAX_TRIES):
        try:
            with transaction.atomic():
                earlier = list(
                    QuizAttempt.objects.filter(
                        learner=learner, chapter=revision.chapter, question_key=question_key
                    ).order_by("number")
                )
                standing = _standing(earlier, version, given)
                if standing is not None:
                    return standing
                return QuizAttempt.objects.create(
                    learner=learner,
                    chapter=revision.chapter,
                    revision=revision,
                    question_key=question_key,
                    question_version=version,
                    number=earlier[-1].number + 1 if earlier else 1,
                    answer=given,
                    correct=correct,
                )
        except IntegrityError:
            # Another request took this number; look again at what it answered.
            continue
    raise RuntimeError(f"No attempt number was free after {MAX_TRIES} tries.")


def _standing(earlier: list[QuizAttempt], version: str, given: Given) -> QuizAttempt | None:
    """Return the attempt that makes a new one unnecessary, None where there is none."""
    same_version = [attempt for attempt in earlier if attempt.question_version == version]
    for attempt in same_version:
        if attempt.correct:
            return attempt
    if same_version and same_version[-1].answer == given:
        return same_version[-1]
    return None
