"""Mistakes that Markdown silently accepts, beyond those that the parser's own rules find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from courses.rendering.clean import ALLOWED_TAGS, is_allowed_link, is_on_this_site

PICTURE = (
    "A picture must be on this site: its address begins with a single /, as in "
    "/static/img/figure.png. Link to it instead."
)
NO_ALT = (
    "This picture has no text for those who cannot see it. Write what it shows between the square "
    "brackets: ![what it shows](address)."
)
NO_ALT_HTML = (
    'This picture has no text for those who cannot see it. Write what it shows as alt="...".'
)
LINK = "This link's address is not allowed. Use https, http or mailto, or an address on this site."
TAG = (
    "<{0}> is not an HTML element that a text may hold, so it would vanish. Remove it, or write "
    "&lt; for a < that begins no tag."
)
UNFINISHED = (
    "This HTML tag is not finished, so what follows would vanish with it. Add the >, or write &lt; "
    "for a < that begins no tag."
)
RAW_HTML = (
    "Formulas and Markdown inside a block of raw HTML are not rendered. Leave an empty line before "
    "the text, or write it without the HTML tags."
)
FENCE = (
    "This block of code is never closed, so all that follows is in it. Close it by a line of {0}, "
    "indented as this one is."
)
BULLET = "A line that begins with {0} makes no list. Begin it with a hyphen and a space: - text."
UNUSED_FOOTNOTE = (
    "No text refers to the footnote [^{0}], so it would not be shown. Write [^{0}] where it "
    "belongs, or remove it."
)

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(
    r"<(?:/?(?P<name>[a-zA-Z][a-zA-Z0-9-]*)|(?P<other>[!?][a-zA-Z\[]*))(?P<rest>[^>]*)(?P<end>>?)"
)
_FORMULA = re.compile(r"(?<!\\)\$[^$\s][^$]*\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
# Bullets of word processors, including characters of their own fonts.
_SURE_BULLET = re.compile(
    "[\u2022\u00b7\u25cf\u25cb\u25aa\u25ab\u25e6\u2023\u2043\uf000-\uf0ff][ \t\u00a0]"
)
_LIKELY_BULLET = re.compile("(?:[\u2013\u2014o\u00a7]\t|[\u2013\u2014] |o {2,})")


@dataclass(frozen=True, slots=True)
class LintMessage:
    """A mistake at `offset` (characters, from 0) of the Markdown text."""

    offset: int
    message: str


def lint_html(html: str, is_block: bool) -> Iterator[tuple[int, str]]:
    """Yield mistakes in raw HTML, each with its index."""
    # Same length, so that offsets stay valid.
    seen = _COMMENT.sub(lambda comment: " " * len(comment.group()), html)
    for tag in _TAG.finditer(seen):
        name = tag["name"] or tag["other"]
        if name.lower() not in ALLOWED_TAGS:
            yield tag.start(), TAG.format(name)
        elif not tag["end"]:
            yield tag.start(), UNFINISHED
        elif name.lower() == "img":
            yield from _lint_picture(tag)
    formula = _FORMULA.search(seen) if is_block else None
    if formula:
        yield formula.start(), RAW_HTML


def html_addresses(html: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the addresses of links and pictures in raw HTML: index, address, whether a picture."""
    for tag in _TAG.finditer(_COMMENT.sub(lambda comment: " " * len(comment.group()), html)):
        attribute = {"a": "href", "img": "src"}.get((tag["name"] or "").lower())
        if attribute and not tag.group().startswith("</"):
            found = re.search(
                rf"\b{attribute}\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", tag["rest"], re.I
            )
            if found and (group := found.lastindex):
                address = unescape(found.group(group))
                yield tag.start("rest") + found.start(group), address, attribute == "src"


def _lint_picture(tag: re.Match[str]) -> Iterator[tuple[int, str]]:
    attributes = tag["rest"]
    if not re.search(r"\balt\s*=\s*(?:\"[^\"]*[^\s\"]|'[^']*[^\s']|[^\s\"'>])", attributes, re.I):
        yield tag.start(), NO_ALT_HTML
    if not re.search(r"\bsrc\s*=", attributes, re.I):
        yield tag.start(), PICTURE


def address_message(address: str, is_picture: bool) -> str | None:
    """Return what is wrong with an address in itself, or None."""
    if is_picture:
        return None if is_on_this_site(address) else PICTURE
    return None if is_allowed_link(address) else LINK


def lint_bullets(content: str) -> Iterator[tuple[int, str]]:
    """Yield lines of a paragraph that look like list items from a word processor."""
    index = 0
    lines = content.split("\n")
    likely = [_LIKELY_BULLET.match(line.lstrip(" \t")) is not None for line in lines]
    for place, line in enumerate(lines):
        begin = line.lstrip(" \t")
        # One dash may begin a line of prose; two consecutive lines are a list.
        neighbours = likely[max(0, place - 1) : place] + likely[place + 1 : place + 2]
        is_list = likely[place] and ("\t" in begin[:2] or any(neighbours))
        if _SURE_BULLET.match(begin) or is_list:
            yield index + len(line) - len(begin), BULLET.format(_shown(begin[0]))
        index += len(line) + 1


def _shown(bullet: str) -> str:
    return "a bullet of a word processor" if bullet >= "\uf000" else bullet
