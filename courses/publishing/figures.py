"""The figures of a chapter: their positions, their links and their data for the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from courses.content.schema import ChapterContent, FigureContent
from courses.figures import FigureError, figure_page, read
from courses.rendering import Source, SourceError

# Parts that may have figures. Not the quiz and the references.
PARTS = ("intuition", "formulas", "derivation", "mechanism", "code", "summary")
# Items that figures may follow; `links` may also name code lines and questions.
KINDS = ("formula", "step", "mechanism")
# Texts whose headings may have figures.
TEXTS = ("intuition", "formulas_intro", "derivation_intro", "mechanism_intro", "code_intro")
HEADING = "heading"
_HEADING_ID = re.compile(r'<h[3-6] id="([^"]+)"')


def figure_sources(figure: FigureContent) -> Iterator[tuple[str, Source]]:
    yield f"figures/{figure.key}/caption", Source("markdown", figure.caption)


def figure_errors(
    content: ChapterContent, rendered: Mapping[str, str], places: Mapping[str, list[str]]
) -> dict[str, list[SourceError]]:
    """Return the errors of figures, by field; `places` are the ids of the page, by kind."""
    standing = [*PARTS, *(place for kind in KINDS for place in places[kind])]
    standing += [
        f"{HEADING}-{found}" for text in TEXTS for found in _HEADING_ID.findall(rendered[text])
    ]
    linked = [place for found in places.values() for place in found]
    errors: dict[str, list[SourceError]] = {}
    for figure in content.figures:
        for field, message in _problems(figure, standing, linked):
            error = SourceError(line=1, column=1, message=message, excerpt="")
            errors.setdefault(f"figures/{figure.key}/{field}", []).append(error)
    return errors


def _problems(
    figure: FigureContent, standing: list[str], linked: list[str]
) -> Iterator[tuple[str, str]]:
    try:
        read(figure.kind, figure.parameters)
    except FigureError as error:
        yield error.field, str(error)
    if figure.part not in standing:
        yield (
            "part",
            f"This chapter has no place “{figure.part}” for a figure. "
            f"There are: {', '.join(standing)}.",
        )
    for link in figure.links:
        if link not in linked:
            yield (
                "links",
                f"This chapter has nothing named “{link}”. Mend the link, or take it out.",
            )


def figures_page(content: ChapterContent, rendered: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the figures in the form that `_figure.html` shows, in the chapter's order."""
    return [
        {
            "key": figure.key,
            "number": number,
            "title": figure.title,
            "caption_html": rendered[f"figures/{figure.key}/caption"],
            "place": f"part-{figure.part}" if figure.part in PARTS else figure.part,
            "links": figure.links,
            **figure_page(figure.key, figure.kind, figure.title, figure.parameters),
        }
        for number, figure in enumerate(content.figures, start=1)
    ]
