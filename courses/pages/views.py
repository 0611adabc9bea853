"""The pages that learners read and the forms they send; services and queries do the work."""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
)
from django.shortcuts import get_object_or_404, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import linebreaks
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_POST, require_safe

from courses import csp, learners, panels
from courses.content.errors import ContentError, describe
from courses.limits import WINDOW_SECONDS, within_limit
from courses.models import Course, MathStylesheet
from courses.pages import preview, queries
from courses.pages.etag import with_etag
from courses.pages.old_addresses import follows_old_addresses
from courses.pages.page_cache import Reading, reading_of, render_reading
from courses.pages.public_pages import public_page
from courses.pages.queries import ChapterPage
from courses.pages.samples import rmsnorm_sample
from courses.quiz.attempts import answer_question
from courses.quiz.kinds import AnswerError, as_sent, read
from courses.quiz.state import Problem, Quiz, quiz_of
from courses.rendering import RenderError
from courses.themes import THEME_COOKIE, THEMES

THEME_COOKIE_AGE_SECONDS = 365 * 24 * 3600
TOO_MANY_ANSWERS = (
    "Too many answers from your address in this minute. Wait a moment, then check again."
)


class BrokenDraft(Http404):
    """A chapter that is not published and cannot be built; `problems` lists its mistakes."""

    def __init__(self, error: ContentError | RenderError) -> None:
        super().__init__("This draft has mistakes.")
        self.problems = describe(error.errors) if isinstance(error, ContentError) else [str(error)]


class SeeOther(HttpResponse):
    """303: show the result with a GET, so that reloading does not send the form again."""

    status_code = 303

    def __init__(self, url: str) -> None:
        super().__init__(headers={"Location": url})


def _lookup(request: HttpRequest) -> dict[str, Any] | None:
    return learners.learner_lookup(request, prefix="learner__")


@require_safe
@public_page
def home(request: HttpRequest) -> HttpResponseBase:
    """All courses, and the chapter to read next."""
    courses = queries.course_entries(_lookup(request))
    featured = queries.featured_chapter(courses)
    context = {
        "courses": courses,
        "featured": featured,
        "begun": queries.is_begun(courses, featured),
        "sample": rmsnorm_sample(),
    }
    return render(request, "courses/home.html", context)


@require_safe
def dashboard(request: HttpRequest) -> HttpResponseBase:
    """The learner's progress, including that of a session without an account."""
    context = {
        "courses": queries.course_entries(_lookup(request)),
        "panels": panels.panels_for("dashboard", request),
        "page_name": "dashboard",
    }
    return render(request, "courses/dashboard.html", context)


@require_safe
@public_page
@follows_old_addresses
def course(request: HttpRequest, course_slug: str) -> HttpResponseBase:
    """The contents of one course."""
    entry = next(iter(queries.course_entries(_lookup(request), course_slug)), None)
    # A course without published chapters has a page too, which says so.
    found = entry.course if entry else get_object_or_404(Course, slug=course_slug)
    context = {
        "course": found,
        "course_summary_html": linebreaks(_unwrapped(found.summary), autoescape=True),
        "chapters": entry.chapters if entry else [],
        "done": entry.done if entry else 0,
        "total": entry.total if entry else 0,
        "panels": panels.panels_of(found, request),
        "page_name": "course",
    }
    return render(request, "courses/course.html", context)


def _unwrapped(text: str) -> str:
    """Return the paragraphs of a text without its hard line breaks."""
    paragraphs = re.split(r"(?:\r?\n[ \t]*){2,}", text.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


@require_safe
@public_page
@follows_old_addresses
def chapter(request: HttpRequest, course_slug: str, chapter_slug: str) -> HttpResponseBase:
    """One chapter as published, with the learner's answers; for authors also unpublished ones."""
    try:
        found = _found(request, course_slug, chapter_slug)
    except BrokenDraft as error:
        return render(request, "courses/broken_draft.html", {"problems": error.problems})
    whole = _chapter_response(request, found, _quiz(request, found))
    response = with_etag(request, whole, personal=_lookup(request) is not None)
    # On a 304 too: its policy replaces that of the cached page.
    _allow_formulas_styles(response, found)
    return response


@require_POST
@follows_old_addresses
def answer(
    request: HttpRequest, course_slug: str, chapter_slug: str, question_key: str
) -> HttpResponseBase:
    """Check an answer: 303 back to the question, or the question's fragment for a script."""
    found = _found(request, course_slug, chapter_slug)
    if question_key not in found.revision.answers:
        raise Http404("The chapter has no such question.")
    answers = found.revision.answers[question_key]
    try:
        given = read(answers, request.POST)
    except AnswerError as error:
        problem = Problem(question_key, as_sent(answers, request.POST), str(error))
        return _shown(request, found, question_key, problem, HTTPStatus.UNPROCESSABLE_ENTITY)
    if found.is_preview:
        attempt = preview.tried(found, question_key, given)
        return _shown(request, replace(found, attempts=[attempt]), question_key)
    if not within_limit(request, "answer", settings.ANSWERS_PER_MINUTE):
        problem = Problem(question_key, given, TOO_MANY_ANSWERS)
        response = _shown(request, found, question_key, problem, HTTPStatus.TOO_MANY_REQUESTS)
        response["Retry-After"] = str(WINDOW_SECONDS)
        return response
    answer_question(learners.learner_for(request), found.revision, question_key, given)
    if not _is_fetch(request):
        return SeeOther(f"{found.chapter.get_absolute_url()}#question-{question_key}")
    return _shown(request, _found(request, course_slug, chapter_slug), question_key)


@require_safe
@follows_old_addresses
def listing(
    request: HttpRequest, course_slug: str, chapter_slug: str, filename: str
) -> HttpResponseBase:
    """A listing's program as a download."""
    found = _found(request, course_slug, chapter_slug)
    for entry in found.revision.page["listings"]:
        if entry["filename"] == filename:
            return HttpResponse(
                entry["code"],
                content_type="text/plain; charset=utf-8",
                headers={"Content-Disposition": f'attachment; filename="{filename}"'},
            )
    raise Http404("The chapter has no such listing.")


@require_safe
def math_css(request: HttpRequest, stylesheet_hash: str) -> HttpResponseBase:
    """The stylesheet of one rendering's formulas, addressed by its content."""
    stylesheet = get_object_or_404(MathStylesheet, hash=stylesheet_hash)
    return HttpResponse(
        stylesheet.css,
        content_type="text/css; charset=utf-8",
        headers={"Cache-Control": "public, max-age=31536000, immutable"},
    )


@require_safe
def favicon(request: HttpRequest) -> HttpResponseBase:
    """Redirect to the site's icon: programs that read no page ask for this address."""
    response = HttpResponsePermanentRedirect(static("img/favicon.ico"))
    # The mark's own address changes with it.
    response["Cache-Control"] = "public, max-age=86400"
    return response


@require_POST
def theme(request: HttpRequest) -> HttpResponseBase:
    """Store the chosen theme in a cookie and return to the page it was chosen on."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        target = reverse("courses:home")
    response = SeeOther(target)
    if request.POST.get("theme") in THEMES:
        response.set_cookie(
            THEME_COOKIE,
            request.POST["theme"],
            max_age=THEME_COOKIE_AGE_SECONDS,
            path=settings.SESSION_COOKIE_PATH,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
        )
    return response


def _found(request: HttpRequest, course_slug: str, chapter_slug: str) -> ChapterPage:
    found = queries.chapter_page(course_slug, chapter_slug, _lookup(request))
    if found is None and preview.may_preview(request):
        try:
            found = preview.chapter_preview(course_slug, chapter_slug)
        except (ContentError, RenderError) as error:
            raise BrokenDraft(error) from error
    if found is None:
        raise Http404("There is no such chapter.")
    return found


def _quiz(request: HttpRequest, found: ChapterPage, problem: Problem | None = None) -> Quiz:
    return quiz_of(found.revision, found.attempts, learners.order_seed(request), problem)


def _chapter_response(
    request: HttpRequest, found: ChapterPage, quiz: Quiz, status: int = 200
) -> HttpResponse:
    shown = panels.panels_for("chapter", request, found.chapter)
    context = {
        "course": found.course,
        "chapter": found.chapter,
        "revision": found.revision,
        "page": found.revision.page,
        "reading": _reading(found, tuple(check for panel in shown for check in panel.checks)),
        "is_preview": found.is_preview,
        "formulas_styles": _formulas_styles(found),
        "quiz": quiz,
        "panels": shown,
        "chapters": found.chapters,
        "previous": found.previous,
        "next": found.next,
        "completed": found.completed,
        "updated_since_completed": found.completed and quiz.done < quiz.total,
    }
    response = render(request, "courses/chapter.html", context, status=status)
    _allow_formulas_styles(response, found)
    return response


def _formulas_styles(found: ChapterPage) -> SafeString:
    """Return the classes of a page's formulas, to be inlined in the page.

    Inlined, they cost no request, and few bytes, since the formulas repeat their names.
    """
    stylesheet = found.revision.stylesheet
    # Written by the renderer, from properties and values that it has checked.
    return mark_safe(stylesheet.css if stylesheet else "")  # noqa: S308


def _allow_formulas_styles(response: HttpResponseBase, found: ChapterPage) -> None:
    if styles := _formulas_styles(found):
        csp.allow_style(response, csp.hash_source(styles))


def _reading(found: ChapterPage, checks: tuple[panels.Check, ...]) -> Reading:
    if found.is_preview:
        return render_reading(found.revision.page, found.course.slug, found.chapter.slug, checks)
    return reading_of(found.revision, found.course.slug, found.chapter.slug, checks)


def _is_fetch(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "fetch"


def _shown(
    request: HttpRequest,
    found: ChapterPage,
    question_key: str,
    problem: Problem | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Show a question after an answer in the form that was asked for: a fragment, or its page."""
    quiz = _quiz(request, found, problem)
    if not _is_fetch(request):
        return _chapter_response(request, found, quiz, status)
    context = {
        "item": quiz.item(question_key),
        "quiz": quiz,
        "chapter": found.chapter,
        "course": found.course,
        "completed": found.completed,
    }
    return render(request, "courses/_question.html", context, status=status)
