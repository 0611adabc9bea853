"""Saving a chapter blocks other writers only while it writes: rendering happens before.

What must be rendered is known only once the rows are written. So a save is attempted; where it
finds content that is not rendered yet, it is rolled back, the content is rendered outside of any
transaction, and the save is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from django.db import transaction

from courses.content.schema import ChapterContent, content_hash, to_data
from courses.publishing import Built, build
from courses.publishing.site import Coming, StoredSite
from courses.rendering import RenderError

Saved = TypeVar("Saved")

MAX_TRIES: Final = 8
"""More than one retry means that somebody else changed the chapter in between."""


class NotRendered(Exception):
    """A save found content that is not rendered yet. Roll it back, render, and repeat it."""

    def __init__(self, content: ChapterContent, published: bool, page: str) -> None:
        super().__init__(f"The chapter {content.slug} is not rendered yet.")
        self.content = content
        self.published = published
        self.page = page


class Renderings:
    """The renderings for one save, by content and address (`page`).

    Links are checked against the database, and against what is `coming` from files.
    """

    def __init__(self, coming: Coming | None = None) -> None:
        self._coming = coming
        self._built: dict[tuple[str, bool, str], Built] = {}

    def of(self, content: ChapterContent, published: bool, page: str) -> Built:
        """Return the rendered content; raises `NotRendered` where it is missing."""
        built = self._built.get(_key(content, published, page))
        if built is None:
            raise NotRendered(content, published, page)
        return built

    def add(self, content: ChapterContent, published: bool, page: str) -> None:
        """Render content; call it outside of transactions. Raises as `publishing.build` does."""
        built = build(content, published, StoredSite(page, self._coming))
        self._built[_key(content, published, page)] = built


def saved(save: Callable[[Renderings], Saved], renderings: Renderings | None = None) -> Saved:
    """Call `save` in its own transaction, and again after rendering what it lacked.

    Raises what `save` and rendering raise; nothing is saved then.
    """
    known = renderings or Renderings()
    for _ in range(MAX_TRIES):
        try:
            with transaction.atomic():
                return save(known)
        except NotRendered as missing:
            known.add(missing.content, missing.published, missing.page)
    raise changes_too_often()


def changes_too_often() -> RenderError:
    """Return the error for a chapter that changes with each attempt to save it."""
    return RenderError("The chapter was changed by others each time it was rendered. Save again.")


def _key(content: ChapterContent, published: bool, page: str) -> tuple[str, bool, str]:
    return content_hash(to_data(content)), published, page
