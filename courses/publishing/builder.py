"""Validate and render a chapter's content in one go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from courses.content.errors import ContentError
from courses.content.limits import exceeded_limits
from courses.content.rules import broken_rules
from courses.content.schema import ChapterContent
from courses.rendering import RENDERER_VERSION, render_all

from .answers import answers_of, question_versions
from .figures import figure_errors
from .links import broken_links
from .page import page_of
from .site import Site, places_of
from .sources import sources_of

PAGE_VERSION = 6
"""Raise by one when the page or the answers get another shape: pages are then built again."""

BUILD_VERSION = RENDERER_VERSION * 1000 + PAGE_VERSION


@dataclass(frozen=True, slots=True)
class Built:
    """Everything in a revision except its source."""

    page: dict[str, Any]
    answers: dict[str, Any]
    question_versions: dict[str, str]
    css: str
    css_hash: str


def build(content: ChapterContent, published: bool = True, site: Site | None = None) -> Built:
    """Render a chapter; `ContentError` with every mistake in it, by field.

    `published` applies the rules for published chapters; with a `site`, links to other pages must
    resolve. `RenderError` is a failure of the renderer, not of the content.
    """
    if too_much := exceeded_limits(content):
        # Not rendered: without a limit, that might take any time.
        raise ContentError(too_much)
    errors = broken_rules(content, published)
    sources = sources_of(content)
    rendered = render_all(sources)
    for more in (
        rendered.errors,
        broken_links(content, sources, rendered, site),
        figure_errors(content, rendered.html, places_of(content)),
    ):
        for field, found in more.items():
            errors.setdefault(field, []).extend(found)
    if errors:
        for found in errors.values():
            found.sort(key=lambda error: (error.line, error.column))
        raise ContentError(errors)
    return Built(
        page=page_of(content, rendered.html),
        answers=answers_of(content, rendered.html),
        question_versions=question_versions(content),
        css=rendered.css,
        css_hash=rendered.css_hash,
    )
