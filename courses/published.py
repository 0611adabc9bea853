"""What a revision shows, kept in memory: it never changes, so it is read and set once a process.

A chapter's page is half a megabyte of HTML in a JSON field. Reading it from the database, parsing
it and setting it into the template took nine tenths of the time of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from courses.models import ChapterRevision

# Revisions in memory at once, about one megabyte each.
KEPT_REVISIONS = 32


class Contents(NamedTuple):
    """`page` is what everyone may see, `answers` is for the server. Neither may be changed."""

    page: Mapping[str, Any]
    answers: Mapping[str, Any]


def contents_of(revision: ChapterRevision) -> Contents:
    """Return what a revision holds; its long fields need not have been loaded."""
    return _contents(revision.pk, revision.content_hash, revision.build_version)


def reading_html(revision: ChapterRevision, course_slug: str, chapter_slug: str) -> SafeString:
    """Return the parts of the page that are the same for all readers: from prose to code."""
    return _reading(
        revision.pk, revision.content_hash, revision.build_version, course_slug, chapter_slug
    )


def set_reading(page: Mapping[str, Any], course_slug: str, chapter_slug: str) -> SafeString:
    """Set the parts of a page that are the same for all readers, each time anew."""
    context = {"page": page, "course_slug": course_slug, "chapter_slug": chapter_slug}
    return mark_safe(render_to_string("courses/_reading.html", context))  # noqa: S308  a template's


# The hash and the version are part of the key, so that a row of another database, as in tests,
# is never taken for this one.
@lru_cache(maxsize=KEPT_REVISIONS)
def _contents(pk: int, content_hash: str, build_version: int) -> Contents:
    return Contents(
        *ChapterRevision.objects.values_list("page", "answers").get(
            pk=pk, content_hash=content_hash, build_version=build_version
        )
    )


@lru_cache(maxsize=KEPT_REVISIONS)
def _reading(
    pk: int, content_hash: str, build_version: int, course_slug: str, chapter_slug: str
) -> SafeString:
    page = _contents(pk, content_hash, build_version).page
    return set_reading(page, course_slug, chapter_slug)
