"""Saving a chapter holds others up for no longer than writing takes: it is rendered beforehand.

What is to be rendered is known only once the rows are written. So a save is tried: where it finds
that its content is not rendered yet, all that it wrote is taken back, the content is rendered while
anybody may write, and the save is done again, which finds it rendered.
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
"""More than one after the first try means that somebody else changed the chapter in between."""


class NotRendered(Exception):
    """A save came to content that is not rendered yet. It must be taken back and done again."""

    def __init__(self, content: ChapterContent, published: bool, page: str) -> None:
        super().__init__(f"The chapter {content.slug} is not rendered yet.")
        self.content = content
        self.published = published
        self.page = page


class Renderings:
    """What was rendered for one save, each content for the address (`page`) that it stands at.

    Links are checked against what the database has, and what is `coming` from files.
    """

    def __init__(self, coming: Coming | None = None) -> None:
        self._coming = coming
        self._built: dict[tuple[str, bool, str], Built] = {}

    def of(self, content: ChapterContent, published: bool, page: str) -> Built:
        """Return the content rendered; raises `NotRendered` where it is yet to be."""
        built = self._built.get(_key(content, published, page))
        if built is None:
            raise NotRendered(content, published, page)
        return built

    def add(self, content: ChapterContent, published: bool, page: str) -> None:
        """Render content; call it outside of transactions. Raises as `publishing.build` does."""
        built = build(content, published, StoredSite(page, self._coming))
        self._built[_key(content, published, page)] = built


def saved(save: Callable[[Renderings], Saved], renderings: Renderings | None = None) -> Saved:
    """Call `save` in a transaction of its own, and again when what it lacked is rendered.

    Raises what `save` and rendering raise; then nothing was saved.
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
    """Return what to raise where each try to save finds the chapter changed once more."""
    return RenderError("The chapter was changed by others each time it was rendered. Save again.")


def _key(content: ChapterContent, published: bool, page: str) -> tuple[str, bool, str]:
    return content_hash(to_data(content)), published, page
