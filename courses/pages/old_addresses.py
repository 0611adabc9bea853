"""Former addresses of courses and chapters redirect to the present ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse

from courses.models import Chapter, Course
from courses.pages import preview

View = Callable[..., HttpResponseBase]
# Not cached: once a slug is taken back, browsers would redirect in circles.
KEPT_SECONDS = 600


def current_chapter(slug: str) -> Chapter | None:
    """Return the published chapter that formerly had this slug; None if there is none."""
    chapters = Chapter.objects.filter(published=True, current_revision__isnull=False)
    return chapters.filter(old_slugs__slug=slug).select_related("course").first()


def moved(url: str, method: str) -> HttpResponse:
    """Redirect permanently to `url`: 301 for reads, 308 for requests with a body."""
    is_read = method in {"GET", "HEAD"}
    status = HTTPStatus.MOVED_PERMANENTLY if is_read else HTTPStatus.PERMANENT_REDIRECT
    headers = {"Location": url, "Cache-Control": f"max-age={KEPT_SECONDS}"}
    return HttpResponse(status=status, headers=headers)


def follows_old_addresses(view: View) -> View:
    """Make a view of a course or chapter redirect from former addresses.

    The view's arguments are `course_slug` and, for chapters, `chapter_slug`. Browsers keep the
    fragment (`#...`) of the request.
    """

    @wraps(view)
    def followed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Http404:
            slugs = _current_slugs(request, kwargs["course_slug"], kwargs.get("chapter_slug"))
            match = request.resolver_match
            if match is None or slugs.items() <= kwargs.items():
                raise
        url = reverse(match.view_name, kwargs={**kwargs, **slugs})
        query = request.META.get("QUERY_STRING", "")
        return moved(f"{url}?{query}" if query else url, request.method or "GET")

    return followed


def _current_slugs(
    request: HttpRequest, course_slug: str, chapter_slug: str | None
) -> dict[str, str]:
    """Return the present slugs; empty where nothing is found."""
    course = Course.find(course_slug)
    if course is None or chapter_slug is None:
        return {} if course is None else {"course_slug": course.slug}
    # A chapter may also have moved to another course.
    chapter = Chapter.find(chapter_slug)
    if chapter is None or not (_is_shown(chapter) or preview.may_preview(request)):
        return {}
    return {"course_slug": chapter.course.slug, "chapter_slug": chapter.slug}


def _is_shown(chapter: Chapter) -> bool:
    return chapter.published and chapter.current_revision_id is not None
