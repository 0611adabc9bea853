"""The page cache: a revision never changes, so each process loads and renders it once.

A chapter's page is half a megabyte of HTML in a JSON field. Loading it from the database, parsing
it and rendering the template took nine tenths of the time of a request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from courses.models import ChapterRevision
from courses.pages.outline import OutlineEntry, outline_of, symbols_of
from courses.panels import Check, listing_tools
from courses.subpath import all_below_site

# Display formulas, which have display="block", keep theirs.
_INLINE_SOURCE = re.compile(
    r'(<math xmlns="[^"]*"><semantics>(?:(?!</semantics>).)*?)<annotation[^>]*>[^<]*</annotation>',
    re.DOTALL,
)
# About one megabyte each.
CACHED_REVISIONS = 32


class Contents(NamedTuple):
    """`page` is what everyone may see, `answers` is for the server. Neither may be changed."""

    page: Mapping[str, Any]
    answers: Mapping[str, Any]


def contents_of(revision: ChapterRevision) -> Contents:
    """Return a revision's contents; its long fields may be deferred."""
    return _contents(revision.pk, revision.content_hash, revision.build_version)


class Reading(NamedTuple):
    """The rendered parts of a page that are the same for all readers.

    `text` holds the parts from prose to code, `symbols` the list of symbols, `outline` the entries
    of "On this page".
    """

    text: SafeString
    symbols: SafeString
    outline: tuple[OutlineEntry, ...]


def reading_of(
    revision: ChapterRevision, course_slug: str, chapter_slug: str, checks: tuple[Check, ...] = ()
) -> Reading:
    """Return what all readers of a published revision share, from the cache."""
    return _reading(
        revision.pk,
        revision.content_hash,
        revision.build_version,
        course_slug,
        chapter_slug,
        checks,
    )


def render_reading(
    page: Mapping[str, Any], course_slug: str, chapter_slug: str, checks: tuple[Check, ...] = ()
) -> Reading:
    """Render what all readers of a page share, without the cache."""
    context = {
        "page": page,
        "steps": [
            {**step, "checks": [check for check in checks if check.step == step["key"]]}
            for step in page["steps"]
        ],
        "formulas": _with_their_steps(page),
        "listing_tools": listing_tools(),
        "has_marks": any("enclosing changed" in step["html"] for step in page["steps"]),
        "course_slug": course_slug,
        "chapter_slug": chapter_slug,
    }
    return Reading(
        text=_render("courses/_reading.html", context),
        symbols=_render("courses/_symbols.html", {"symbols": symbols_of(page)}),
        outline=outline_of(page),
    )


def _with_their_steps(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the formulas, each with the steps of the derivation that stand for it."""
    return [
        {**formula, "steps": [step for step in page["steps"] if step["formula"] == formula["key"]]}
        for formula in page["formulas"]
    ]


def _render(template: str, context: Mapping[str, Any]) -> SafeString:
    """Render a template, and drop the TeX in inline formulas: two kilobytes that nobody sees."""
    markup = render_to_string(template, dict(context)).strip()
    return mark_safe(_INLINE_SOURCE.sub(r"\1", markup))  # noqa: S308  a template's


# Hash and version are part of the key: in tests, another database may have a row of the same id.
@lru_cache(maxsize=CACHED_REVISIONS)
def _contents(pk: int, content_hash: str, build_version: int) -> Contents:
    page, answers = ChapterRevision.objects.values_list("page", "answers").get(
        pk=pk, content_hash=content_hash, build_version=build_version
    )
    return Contents(all_below_site(page), all_below_site(answers))


@lru_cache(maxsize=CACHED_REVISIONS)
def _reading(
    pk: int,
    content_hash: str,
    build_version: int,
    course_slug: str,
    chapter_slug: str,
    checks: tuple[Check, ...],
) -> Reading:
    page = _contents(pk, content_hash, build_version).page
    return render_reading(page, course_slug, chapter_slug, checks)
