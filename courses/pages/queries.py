"""Read queries for the pages of courses and chapters, with a learner's progress.

`learner` arguments are the result of `learners.learner_lookup(request, prefix="learner__")`: filter
arguments, or None for an unknown visitor. The number of queries of each function does not grow with
courses, chapters or attempts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.fields import BooleanField
from django.db.models.fields.json import KeyTextTransform

from courses.models import (
    Chapter,
    ChapterCompletion,
    ChapterRevision,
    Course,
    QuizAttempt,
    RequirementMet,
)
from courses.pages.page_cache import contents_of
from courses.quiz.attempts import count_done
from courses.subpath import below_site

LearnerLookup = dict[str, Any] | None


class ChapterState(StrEnum):
    NOT_STARTED = "not started"
    IN_PROGRESS = "in progress"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class ChapterEntry:
    """A chapter in a list, with `done` of `total` questions answered correctly."""

    chapter: Chapter
    state: ChapterState
    done: int
    total: int
    summary_html: str


@dataclass(frozen=True, slots=True)
class CourseEntry:
    """A course in a list, with `done` of `total` chapters completed, and the next chapter."""

    course: Course
    chapters: list[ChapterEntry]
    done: int
    total: int
    next_chapter: Chapter | None


@dataclass(frozen=True, slots=True)
class ChapterLink:
    """A chapter of the same course, for the chapter page's list."""

    chapter: Chapter
    completed: bool


@dataclass(frozen=True, slots=True)
class ChapterPage:
    """Everything that a chapter's page shows, except panels."""

    course: Course
    chapter: Chapter
    revision: ChapterRevision
    attempts: list[QuizAttempt]
    chapters: list[ChapterLink]
    completed: bool
    previous: Chapter | None
    next: Chapter | None
    is_preview: bool = False


def published_chapters() -> QuerySet[Chapter]:
    """Return the published chapters, each with its course, without long texts."""
    return (
        Chapter.objects.filter(published=True, current_revision__isnull=False)
        .select_related("course")
        .only(
            *("slug", "title", "minutes", "position", "requirements", "current_revision"),
            *("course__slug", "course__title", "course__summary", "course__position"),
        )
        .order_by("course__position", "course__slug", "position", "slug")
    )


def course_entries(learner: LearnerLookup, course_slug: str | None = None) -> list[CourseEntry]:
    """Return the courses that have published chapters, or the one named, in order."""
    chapters = published_chapters().annotate(
        question_versions=F("current_revision__question_versions"),
        summary_html=KeyTextTransform("summary_html", "current_revision__page"),
    )
    if course_slug is not None:
        chapters = chapters.filter(course__slug=course_slug)
    found = list(chapters)
    progress = _progress([chapter.pk for chapter in found], learner)
    entries = [
        ChapterEntry(
            chapter=chapter,
            state=progress.state(chapter.pk),
            done=count_done(chapter.question_versions, progress.right[chapter.pk]),
            total=len(chapter.question_versions),
            summary_html=below_site(chapter.summary_html or ""),
        )
        for chapter in found
    ]
    by_course: dict[int, list[ChapterEntry]] = defaultdict(list)
    courses: dict[int, Course] = {}
    for entry in entries:
        by_course[entry.chapter.course_id].append(entry)
        courses[entry.chapter.course_id] = entry.chapter.course
    return [_course_entry(course, by_course[pk]) for pk, course in courses.items()]


def featured_chapter(courses: Sequence[CourseEntry]) -> Chapter | None:
    """Return the chapter to read next: the first not completed, otherwise the first."""
    for course in courses:
        if course.next_chapter is not None:
            return course.next_chapter
    return courses[0].chapters[0].chapter if courses else None


def is_begun(courses: Sequence[CourseEntry], chapter: Chapter | None) -> bool:
    """Return whether the learner has answered something in this chapter."""
    return any(
        entry.chapter == chapter and entry.state is not ChapterState.NOT_STARTED
        for course in courses
        for entry in course.chapters
    )


def chapter_page(course_slug: str, chapter_slug: str, learner: LearnerLookup) -> ChapterPage | None:
    """Return the page of a published chapter, None if there is none.

    At most two queries, and a third where the revision is not in this process's page cache.
    """
    chapters = list(_chapters_of(course_slug, learner))
    place = next((n for n, chapter in enumerate(chapters) if chapter.slug == chapter_slug), None)
    if place is None:
        return None
    chapter = chapters[place]
    revision = chapter.current_revision
    if revision is None:
        return None
    revision.chapter = chapter
    revision.page, revision.answers = contents_of(revision)
    attempts: list[QuizAttempt] = []
    if learner is not None:
        attempts = list(QuizAttempt.objects.filter(chapter=chapter, **learner).order_by("number"))
    return ChapterPage(
        course=chapter.course,
        chapter=chapter,
        revision=revision,
        attempts=attempts,
        chapters=[ChapterLink(one, one.completed) for one in chapters],
        completed=chapter.completed,
        previous=chapters[place - 1] if place > 0 else None,
        next=chapters[place + 1] if place + 1 < len(chapters) else None,
    )


def _chapters_of(course_slug: str, learner: LearnerLookup) -> QuerySet[Any]:
    """Return a course's chapters with their revisions, without the long fields of these."""
    return (
        published_chapters()
        .select_related("course", "current_revision__stylesheet")
        .only(
            *("slug", "title", "minutes", "position", "requirements"),
            *("course__slug", "course__title", "course__summary", "course__position"),
            *("current_revision__chapter_id", "current_revision__number"),
            *("current_revision__content_hash", "current_revision__build_version"),
            *("current_revision__created_at", "current_revision__question_versions"),
            "current_revision__stylesheet__css",
        )
        .filter(course__slug=course_slug)
        .annotate(completed=_completed(learner))
    )


def _completed(learner: LearnerLookup) -> Exists | Value:
    if learner is None:
        return Value(False, output_field=BooleanField())
    return Exists(ChapterCompletion.objects.filter(chapter=OuterRef("pk"), **learner))


@dataclass(slots=True)
class _Progress:
    """One learner's progress by chapter: right answers as (key, version), begun, completed."""

    right: dict[int, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    begun: set[int] = field(default_factory=set)
    completed: set[int] = field(default_factory=set)

    def state(self, chapter_id: int) -> ChapterState:
        if chapter_id in self.completed:
            return ChapterState.COMPLETED
        return ChapterState.IN_PROGRESS if chapter_id in self.begun else ChapterState.NOT_STARTED


def _progress(chapter_ids: Sequence[int], learner: LearnerLookup) -> _Progress:
    progress = _Progress()
    if learner is None or not chapter_ids:
        return progress
    mine = {"chapter__in": chapter_ids, **learner}
    attempts = QuizAttempt.objects.filter(**mine).order_by().distinct()
    for chapter_id, key, version, correct in attempts.values_list(
        "chapter_id", "question_key", "question_version", "correct"
    ):
        progress.begun.add(chapter_id)
        if correct:
            progress.right[chapter_id].add((key, version))
    for model, chapters in (
        (RequirementMet, progress.begun),
        (ChapterCompletion, progress.completed),
    ):
        chapters |= set(model.objects.filter(**mine).values_list("chapter_id", flat=True))
    return progress


def _course_entry(course: Course, entries: list[ChapterEntry]) -> CourseEntry:
    open_chapters = [
        entry.chapter for entry in entries if entry.state is not ChapterState.COMPLETED
    ]
    return CourseEntry(
        course=course,
        chapters=entries,
        done=len(entries) - len(open_chapters),
        total=len(entries),
        next_chapter=open_chapters[0] if open_chapters else None,
    )
