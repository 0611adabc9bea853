"""The pages that links may point to, so that links can be checked.

Courses, chapters and static files are known here. Another app registers its own:

    from courses.publishing import site
    site.register("app:page", lookup)

`lookup` gets the arguments of the address and returns whether the page exists.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation
from django.urls import get_script_prefix

from courses.content.exporter import stored_content
from courses.content.schema import ChapterContent
from courses.models import Chapter, ChapterRevision, Course

from .page import PART_TITLES, parts_of

Lookup = Callable[[Mapping[str, Any]], bool]
Coming = Callable[[str, str], ChapterContent | None]
_lookups: dict[str, Lookup] = {}
_ID = re.compile(r'\sid="([^"]+)"')
_KEYED = {
    "formulas": "formula",
    "steps": "step",
    "mechanism": "mechanism",
    "figures": "figure",
    "questions": "question",
}


def register(view_name: str, lookup: Lookup) -> None:
    """Let `lookup` decide whether addresses of this name exist."""
    _lookups[view_name] = lookup


def lookup_for(view_name: str) -> Lookup | None:
    return _lookups.get(view_name)


@dataclass(frozen=True, slots=True)
class Target:
    """A chapter that others may link to: its anchors, its files, and a name for messages.

    `knows_headings` is False where anchors of headings are not listed, `is_known` where only the
    address is known.
    """

    title: str
    places: frozenset[str]
    files: frozenset[str]
    knows_headings: bool
    is_known: bool = True


class Site(Protocol):
    """The other pages, as far as they are known; an unknown page may exist.

    `page` is the address of the page with the texts.
    """

    page: str

    def has_course(self, course_slug: str) -> bool: ...

    def chapter(self, course_slug: str, chapter_slug: str) -> Target | None: ...

    def knows(self, view_name: str, arguments: Mapping[str, Any]) -> bool: ...


class StoredSite:
    """The site in the database, and chapters that are about to be imported.

    `coming` returns, by the slugs of course and chapter, what an import may write.
    """

    def __init__(self, page: str, coming: Coming | None = None) -> None:
        # In texts, addresses start at the site's root, wherever on its host that is.
        self.page = f"/{page.removeprefix(get_script_prefix())}"
        self._coming = coming
        self.chapter = cache(self._chapter)
        self.has_course = cache(self._has_course)

    def knows(self, view_name: str, arguments: Mapping[str, Any]) -> bool:
        lookup = lookup_for(view_name)
        return lookup is None or lookup(arguments)

    def _has_course(self, course_slug: str) -> bool:
        return Course.find(course_slug) is not None

    def _chapter(self, course_slug: str, chapter_slug: str) -> Target | None:
        stored = self._stored(course_slug, chapter_slug)
        content = self._coming(course_slug, chapter_slug) if self._coming else None
        if content is None:
            return stored
        coming = target_of(content)
        if stored is None:
            return coming
        # Which of the two will exist is known only once the import gets there.
        return Target(
            title=coming.title,
            places=coming.places | stored.places,
            files=coming.files | stored.files,
            knows_headings=False,
        )

    def _stored(self, course_slug: str, chapter_slug: str) -> Target | None:
        # Former addresses redirect.
        chapter = Chapter.find(chapter_slug) if self.has_course(course_slug) else None
        if chapter is None:
            return None
        revision = ChapterRevision.objects.filter(pk=chapter.current_revision_id).first()
        if revision is not None:
            return _target_of_revision(revision)
        return target_of(stored_content(chapter))


class FilesSite:
    """The pages that one course's files describe; any other page may exist."""

    def __init__(self, page: str, course_slug: str, chapters: Mapping[str, ChapterContent]) -> None:
        self.page, self._course, self._chapters = page, course_slug, chapters

    def has_course(self, course_slug: str) -> bool:
        return True

    def chapter(self, course_slug: str, chapter_slug: str) -> Target | None:
        if course_slug != self._course:
            return Target(chapter_slug, frozenset(), frozenset(), False, is_known=False)
        content = self._chapters.get(chapter_slug)
        return None if content is None else target_of(content)

    def knows(self, view_name: str, arguments: Mapping[str, Any]) -> bool:
        return True


def has_static_file(path: str) -> bool:
    """Return whether the site has a static file of this path."""
    try:
        return finders.find(path) is not None
    except SuspiciousFileOperation:
        return False


def target_of(content: ChapterContent) -> Target:
    """Return the link targets of a chapter that was not rendered."""
    return Target(
        content.title,
        frozenset(place for places in places_of(content).values() for place in places),
        frozenset(listing.filename for listing in content.listings),
        knows_headings=False,
    )


def places_of(content: ChapterContent) -> dict[str, list[str]]:
    """Return the anchors that keys become on the page, by kind."""
    keys = {
        "formula": [formula.key for formula in content.formulas],
        "step": [step.key for step in content.steps],
        "line": [line.key for listing in content.listings for line in listing.lines],
        "question": [question.key for question in content.questions],
        "mechanism": [part.key for part in content.mechanism],
        "figure": [figure.key for figure in content.figures],
        "part": [part for part in PART_TITLES if part in parts_of(content)],
    }
    return {kind: [f"{kind}-{key}" for key in found] for kind, found in keys.items()}


def _target_of_revision(revision: ChapterRevision) -> Target:
    """Read the targets off the rendered page, whose format is stable, unlike the content's."""
    page = revision.page
    places = {
        f"{kind}-{part['key']}" for name, kind in _KEYED.items() for part in page.get(name, [])
    }
    places |= {heading["id"] for heading in page["headings"]}
    places |= {place for markup in _texts(page) for place in _ID.findall(markup)}
    files = frozenset(listing["filename"] for listing in page["listings"])
    return Target(page["title"], frozenset(places), files, knows_headings=True)


def _texts(page: Any) -> Iterator[str]:
    if isinstance(page, str):
        yield page
    elif isinstance(page, Mapping):
        for value in page.values():
            yield from _texts(value)
    elif isinstance(page, list):
        for value in page:
            yield from _texts(value)
