"""Addresses that a course or chapter had before lead to where it is now."""

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
# A browser that kept a redirect for good would turn in circles once a slug was taken back.
KEPT_SECONDS = 600


def current_chapter(slug: str) -> Chapter | None:
    """Return the published chapter that had this slug before; None if there is none."""
    chapters = Chapter.objects.filter(published=True, current_revision__isnull=False)
    return chapters.filter(old_slugs__slug=slug).select_related("course").first()


def moved(url: str, method: str) -> HttpResponse:
    """Lead to `url` for good: 301 for what is read, 308 for what must arrive as it was sent."""
    is_read = method in {"GET", "HEAD"}
    status = HTTPStatus.MOVED_PERMANENTLY if is_read else HTTPStatus.PERMANENT_REDIRECT
    headers = {"Location": url, "Cache-Control": f"max-age={KEPT_SECONDS}"}
    return HttpResponse(status=status, headers=headers)


def follows_old_addresses(view: View) -> View:
    """Let a view of a course or chapter that is not at its address lead to where it is.

    The view's arguments are `course_slug` and, for chapters, `chapter_slug`. Browsers keep the
    place in the page (`#...`) that they asked for.
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
    """Return the slugs under which the same is found now; empty where nothing is."""
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
