"""Check links and pictures: each must resolve on the chapter's page or on the site."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.urls import Resolver404, ResolverMatch, get_script_prefix, resolve

from courses.content.schema import ChapterContent
from courses.rendering import Link, Rendered, Source, SourceError
from courses.rendering.places import source_error, with_line_feeds

from .site import Site, Target, has_static_file, places_of

# Anchors of the page itself: its top, its main element, and the panel of graded exercises.
PLACES_OF_EVERY_PAGE = frozenset({"", "top", "content", "part-exercises"})
# Shown only after an answer, so other texts cannot link to headings in them.
_SHOWN_LATER = re.compile(r"questions/.*/(?:explanation|feedback|hint)")
_ID = re.compile(r'\sid="([^"]+)"')
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
NO_PAGE = "This link leads to {0}, where there is no page. Mend the link, or take it out."
NO_FILE = "This link leads to {0}, where there is no file. Mend the link, or take it out."
NO_PICTURE = (
    "There is no picture at {0}. Pictures are files that the site brings, below /static/. Mend the "
    "address, or take the picture out."
)
NO_LISTING = (
    "This link leads into the chapter “{0}”, which has no listing {1}. Mend the link, or take it "
    "out."
)
NO_PLACE = (
    "This link leads to the chapter “{0}”, which has no place “#{1}”. Mend the link, or take it "
    "out."
)


def broken_links(
    content: ChapterContent, sources: Mapping[str, Source], rendered: Rendered, site: Site | None
) -> dict[str, list[SourceError]]:
    """Return the broken links and pictures, by field.

    Without a `site`, only those within the chapter's own page are checked.
    """
    places = places_of(content)
    everywhere = set(PLACES_OF_EVERY_PAGE).union(*places.values())
    for name, markup in rendered.html.items():
        if not _SHOWN_LATER.fullmatch(name):
            everywhere.update(_ids(markup))
    page = site.page if site else f"/courses/-/{content.slug}/"
    own_page = re.compile(re.escape(page) if site else rf"/courses/[^/]+/{content.slug}/")
    errors: dict[str, list[SourceError]] = {}
    for name, links in rendered.links.items():
        own = everywhere | set(_ids(rendered.html[name]))
        for link in links:
            address = urlsplit(urljoin(page, link.address))
            if link.is_picture or address.scheme or not own_page.fullmatch(unquote(address.path)):
                problem = problem_of(link, site) if site else None
            else:
                problem = _missing_place(unquote(address.fragment), own, places)
            if problem:
                found = source_error(with_line_feeds(sources[name].text), link.offset, problem)
                errors.setdefault(name, []).append(found)
    return errors


def problem_of(link: Link, site: Site) -> str | None:
    """Return what is wrong with a link or picture outside of the text's own page, or None.

    Addresses of other sites are not checked.
    """
    address = urlsplit(urljoin(site.page, link.address))
    if address.scheme or address.netloc:
        return None
    path, shown = unquote(address.path), address.path
    if path.startswith(_static_prefix()):
        is_there = has_static_file(path.removeprefix(_static_prefix()))
        return None if is_there else (NO_PICTURE if link.is_picture else NO_FILE).format(shown)
    if link.is_picture:
        return NO_PICTURE.format(shown)
    match = _resolved(path)
    if match is None:
        return NO_PAGE.format(shown)
    if match.view_name == "courses:course":
        return None if site.has_course(match.kwargs["course_slug"]) else NO_PAGE.format(shown)
    if "chapter_slug" not in match.kwargs or "course_slug" not in match.kwargs:
        return None if site.knows(match.view_name, match.kwargs) else NO_PAGE.format(shown)
    target = site.chapter(match.kwargs["course_slug"], match.kwargs["chapter_slug"])
    if target is None:
        return NO_PAGE.format(shown)
    filename = match.kwargs.get("filename")
    if filename is not None and target.is_known and filename not in target.files:
        return NO_LISTING.format(target.title, filename)
    return _missing_there(unquote(address.fragment), target)


def _static_prefix() -> str:
    below_the_root = settings.STATIC_URL.removeprefix(get_script_prefix())
    return "/" + below_the_root.lstrip("/")


def _resolved(path: str) -> ResolverMatch | None:
    """Return the view for a path, also where only its trailing slash is missing."""
    for tried in (path, path + "/"):
        try:
            return resolve(tried)
        except Resolver404:
            continue
    return None


def _ids(markup: str) -> Iterator[str]:
    return (html.unescape(match[1]) for match in _ID.finditer(markup))


def _missing_place(
    target: str, there: Collection[str], places: Mapping[str, Sequence[str]]
) -> str | None:
    if target in there:
        return None
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


def _missing_there(fragment: str, target: Target) -> str | None:
    """Return what is wrong with an anchor in another chapter."""
    if fragment in PLACES_OF_EVERY_PAGE or fragment in target.places:
        return None
    kind = fragment.partition("-")[0]
    may_be_heading = kind not in _KINDS and not target.knows_headings
    if may_be_heading or not target.is_known:
        return None
    known = sorted(place for place in target.places if place.startswith(f"{kind}-"))
    there_are = f" There are: {', '.join(f'#{name}' for name in known[:MOST_NAMED])}"
    rest = ", and others." if len(known) > MOST_NAMED else "."
    return NO_PLACE.format(target.title, fragment) + (there_are + rest if known else "")
