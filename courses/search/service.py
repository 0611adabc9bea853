"""Answers a query from an index of the published chapters, built once per set of revisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

from django.urls import reverse

from courses.models import ChapterRevision
from courses.pages.queries import published_chapters

from .documents import Document, documents_of
from .excerpts import Excerpt, Piece, excerpt, marked
from .index import MAX_QUERY_WORDS, Hit, Index, Query
from .words import words

MAX_QUERY_CHARACTERS = 200
MAX_RESULTS = 50
KEPT_REVISIONS = 256
# One for what is published now, one for what was until a moment ago.
KEPT_INDEXES = 2
_ALIKE = 0.75


class _Source(NamedTuple):
    """A published chapter, as part of the index's key."""

    course_slug: str
    chapter_slug: str
    title: str
    revision_id: int
    content_hash: str
    build_version: int


@dataclass(frozen=True, slots=True)
class Result:
    """A hit: `where` describes its place in words, `url` leads to its anchor."""

    chapter: str
    section: str
    title: tuple[Piece, ...]
    url: str
    excerpt: Excerpt


@dataclass(frozen=True, slots=True)
class Results:
    """The best results, and the total number.

    `complete` is false where no document has all words of the query. `suggestion` is a query that
    would find something where this one finds nothing, otherwise empty.
    """

    results: Sequence[Result]
    total: int
    complete: bool
    suggestion: str


NOTHING = Results((), 0, True, "")


def search(text: str, limit: int = MAX_RESULTS) -> Results:
    """Search all published chapters; one query of the database while nothing is published."""
    query = Query.of(text[:MAX_QUERY_CHARACTERS])
    if not query.words:
        return NOTHING
    sources = _published()
    index, origins = _index(sources)
    hits = index.hits(query)
    if not hits:
        return Results((), 0, True, _suggestion(text[:MAX_QUERY_CHARACTERS], index))
    shown = [_result(hit, index.documents[hit.document], origins) for hit in hits[:limit]]
    return Results(shown, len(hits), hits[0].complete, "")


def _published() -> tuple[_Source, ...]:
    rows = published_chapters().values_list(
        *("course__slug", "slug", "title", "current_revision_id"),
        *("current_revision__content_hash", "current_revision__build_version"),
    )
    return tuple(_Source(*row) for row in rows)


@lru_cache(maxsize=KEPT_INDEXES)
def _index(sources: tuple[_Source, ...]) -> tuple[Index, tuple[_Source, ...]]:
    """Return the index, and the chapter of each document."""
    documents: list[Document] = []
    origins: list[_Source] = []
    for source in sources:
        found = _documents(source.revision_id, source.content_hash, source.build_version)
        documents += found
        origins += [source] * len(found)
    return Index.of(documents), tuple(origins)


@lru_cache(maxsize=KEPT_REVISIONS)
def _documents(revision_id: int, content_hash: str, build_version: int) -> tuple[Document, ...]:
    # The hash and the version are part of the key as in `courses.pages.page_cache`.
    page = ChapterRevision.objects.values_list("page", flat=True).get(
        pk=revision_id, content_hash=content_hash, build_version=build_version
    )
    return tuple(documents_of(page))


def _result(hit: Hit, document: Document, origins: Sequence[_Source]) -> Result:
    source = origins[hit.document]
    found = excerpt(document, hit.matched)
    anchor = found.anchor or document.anchor
    url = reverse("courses:chapter", args=[source.course_slug, source.chapter_slug])
    return Result(
        chapter=source.title,
        section=document.section,
        title=marked(document.title, hit.matched),
        url=f"{url}#{anchor}" if anchor else url,
        excerpt=found,
    )


def _suggestion(text: str, index: Index) -> str:
    """Replace unknown words by known ones that are spelt similarly."""
    changed = text
    found = list(words(text))
    if len(found) > MAX_QUERY_WORDS:
        # Each is compared with the whole vocabulary, and so many are hardly all mistyped.
        return ""
    for word in reversed(found):
        if not index.near(word.word):
            alike = get_close_matches(word.word, index.vocabulary(), n=1, cutoff=_ALIKE)
            if not alike:
                return ""
            changed = changed[: word.start] + alike[0] + changed[word.end :]
    return "" if changed == text else changed
