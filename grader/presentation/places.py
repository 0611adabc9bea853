"""Places in a chapter that a verdict refers to, by the names that the chapter gives them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from courses.models import Chapter, ChapterRevision
from courses.pages.page_cache import contents_of

_LISTING_LINE = re.compile(r'id="line-([a-z0-9-]+)" data-line="(\d+)"')


@dataclass(frozen=True, slots=True)
class ChapterPlace:
    url: str
    text: str


def names_in(chapter: Chapter | None) -> dict[str, str]:
    """Return the chapter's name for each anchor of its page."""
    if chapter is None or not chapter.published or chapter.current_revision_id is None:
        return {}
    revision = ChapterRevision.objects.only("content_hash", "build_version").get(
        pk=chapter.current_revision_id
    )
    page: Mapping[str, Any] = contents_of(revision).page
    names = {
        f"formula-{item['key']}": f"Formula {item['number']}: {item['title']}"
        for item in page.get("formulas", [])
    }
    for item in page.get("steps", []):
        names[f"step-{item['key']}"] = f"Step {item['number']} of the derivation: {item['title']}"
    for listing in page.get("listings", []):
        for key, line in _LISTING_LINE.findall(listing["html"]):
            names[f"line-{key}"] = f"Line {line} of {listing['filename']}"
    if page.get("formulas"):
        names["part-formulas"] = "The formulas"
    if page.get("steps"):
        names["part-derivation"] = "The derivation, step by step"
    return names


_PLAIN_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "formula": "The formula",
        "step": "The step of the derivation",
        "line": "The line in the listing",
    }
)


def places_of(
    mistake: Mapping[str, Any], names: Mapping[str, str], chapter_url: str
) -> list[ChapterPlace]:
    """Return the places for one mistake, as far as they are on the chapter's page.

    Without `names`, where the page could not be read, all places of the mistake.
    """
    places = []
    for part, plain_name in _PLAIN_NAMES.items():
        anchor = f"{part}-{mistake.get(part)}"
        if mistake.get(part) and chapter_url and (not names or anchor in names):
            places.append(ChapterPlace(f"{chapter_url}#{anchor}", names.get(anchor, plain_name)))
    return places
