"""Preview of an unpublished chapter for its authors: built as for publishing, stored nowhere."""

from __future__ import annotations

from django.db.models import Q
from django.http import HttpRequest

from courses import services
from courses.models import Chapter, ChapterRevision, QuizAttempt
from courses.pages import queries
from courses.pages.queries import ChapterLink, ChapterPage
from courses.publishing import BUILD_VERSION
from courses.quiz.kinds import Given, check
from courses.subpath import all_below_site


def may_preview(request: HttpRequest) -> bool:
    """Return whether this visitor may see unpublished chapters."""
    return request.user.is_authenticated and request.user.has_perm("courses.change_chapter")


def chapter_preview(course_slug: str, chapter_slug: str) -> ChapterPage | None:
    """Return the page that publishing would make of a chapter; None if it is published or missing.

    Its revision is not saved. Raises `ContentError` where the draft has mistakes, `RenderError`
    where the renderer fails.
    """
    chapter = (
        Chapter.objects.filter(course__slug=course_slug, slug=chapter_slug)
        .filter(Q(published=False) | Q(current_revision=None))
        .select_related("course")
        .first()
    )
    if chapter is None:
        return None
    built = services.check_chapter(chapter)
    revision = ChapterRevision(
        chapter=chapter,
        number=0,
        page=all_below_site(built.page),
        answers=all_below_site(built.answers),
        question_versions=built.question_versions,
        build_version=BUILD_VERSION,
        # Content-addressed: publishing would write the same row.
        stylesheet=services.store_stylesheet(built.css, built.css_hash),
    )
    shown = list(queries.published_chapters().filter(course=chapter.course))
    place = sum((one.position, one.slug) < (chapter.position, chapter.slug) for one in shown)
    links = [ChapterLink(one, completed=False) for one in shown]
    return ChapterPage(
        course=chapter.course,
        chapter=chapter,
        revision=revision,
        attempts=[],
        chapters=[*links[:place], ChapterLink(chapter, completed=False), *links[place:]],
        completed=False,
        previous=shown[place - 1] if place else None,
        next=shown[place] if place < len(shown) else None,
        is_preview=True,
    )


def tried(found: ChapterPage, question_key: str, given: Given) -> QuizAttempt:
    """Judge an answer to a question of a preview; the attempt is not saved."""
    return QuizAttempt(
        question_key=question_key,
        question_version=found.revision.question_versions[question_key],
        number=1,
        answer=given,
        correct=check(found.revision.answers[question_key], given).correct,
    )
