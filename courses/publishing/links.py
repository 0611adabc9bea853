"""Links inside a chapter: each must lead to something that the chapter's page has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from courses.content.schema import ChapterContent
from courses.rendering import Source, SourceError
from courses.rendering.places import source_error

from .page import PART_TITLES, parts_of

# Of the page itself: its beginning, its main element, and the panel of graded exercises.
PLACES_OF_EVERY_PAGE = frozenset({"", "top", "content", "part-exercises"})
# Shown only after an answer, so no other text may count on a heading in them.
_SHOWN_LATER = re.compile(r"questions/.*/(?:explanation|feedback|hint)")
_ID = re.compile(r'\sid="([^"]+)"')
_LINK = re.compile(r'<a\s[^>]*?href="([^"]*)"')
_KINDS = {
    "formula": "formula",
    "step": "step of the derivation",
    "line": "named line of a listing",
    "question": "question",
    "mechanism": "step of the mechanism",
    "figure": "figure",
    "part": "part",
}
MOST_NAMED = 12


def dead_links(
    content: ChapterContent, sources: Mapping[str, Source], rendered: Mapping[str, str]
) -> dict[str, list[SourceError]]:
    """Return by field the links to places that the chapter's page does not have."""
    places = places_of(content)
    everywhere = set(PLACES_OF_EVERY_PAGE).union(*places.values())
    for name, markup in rendered.items():
        if not _SHOWN_LATER.fullmatch(name):
            everywhere.update(_ids(markup))
    errors: dict[str, list[SourceError]] = {}
    for name, markup in rendered.items():
        missing = set(_targets(markup, content.slug)) - everywhere - set(_ids(markup))
        if missing:
            text = sources[name].text
            found = [
                source_error(text, _offset(text, target), _message(target, places))
                for target in missing
            ]
            errors[name] = sorted(found, key=lambda error: (error.line, error.column))
    return errors


def places_of(content: ChapterContent) -> dict[str, list[str]]:
    """Return the ids that keys become on the page, by kind."""
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


def _ids(markup: str) -> Iterator[str]:
    return (html.unescape(match[1]) for match in _ID.finditer(markup))


def _targets(markup: str, slug: str) -> Iterator[str]:
    """The fragments of links to this page: `#step-result`, also behind the page's own address."""
    own_page = re.compile(rf"(?:/courses/[^/#?]+/{re.escape(slug)}/)?#(.*)", re.DOTALL)
    for match in _LINK.finditer(markup):
        link = own_page.fullmatch(html.unescape(match[1]))
        if link:
            yield unquote(link[1])


def _offset(text: str, target: str) -> int:
    match = re.search(rf"#{re.escape(target)}(?![\w-])", text)
    return match.start() if match else 0


def _message(target: str, places: Mapping[str, list[str]]) -> str:
    kind = target.partition("-")[0]
    if kind not in _KINDS:
        return f"This link leads to “#{target}”, which is nowhere in this chapter. Mend the link."
    known = places[kind]
    there_are = f"There are: {', '.join(f'#{name}' for name in known[:MOST_NAMED])}"
    rest = ", and others." if len(known) > MOST_NAMED else "."
    return (
        f"This link leads to “#{target}”, but this chapter has no such {_KINDS[kind]}. "
        f"{there_are + rest if known else 'There are none.'} Mend the link, or take it out."
    )
