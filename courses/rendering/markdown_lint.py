"""Mistakes that Markdown lets pass in silence: formulas that do not become formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from courses.rendering.clean import ALLOWED_TAGS, is_allowed_link, is_on_this_site
from courses.rendering.markdown_sources import MarkdownSource

MATH_CLASS = "arithmatex"

_SPECIAL = re.compile(r"[\x02\x03$]")
# Python-Markdown holds an escaped character as its code between these two until the very end.
_ESCAPED_OPENING = re.compile("\x02(40|91)\x03(?=[^\x02]*(?:\\\\[A-Za-z]|\\^|_{))")
_RAW_HTML_FORMULA = re.compile(r"(?<!\\)\$[^$\s][^$]*\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)

IN_CELL = (
    "This dollar sign is alone in its table cell. A | ends the cell even inside a formula: write "
    "\\vert, \\lvert, \\rvert or \\mid for it. For money write \\$."
)
UNCLOSED = (
    "This dollar sign opens no formula. Close the formula with $ in the same paragraph, with no "
    "space just inside the signs. For a plain dollar sign write \\$."
)
DISPLAY = (
    "This $$ opens no formula. A display formula stands in a paragraph of its own, has no empty "
    "line in it and ends with $$."
)
BRACKET = (
    "This opens no formula. \\( ... \\) belongs into one paragraph; \\[ ... \\] stands in a "
    "paragraph of its own."
)
PICTURE = (
    "A picture must be on this site: its address begins with a single /. Upload it, or link to it "
    "instead."
)
LINK = "This link's address is not allowed. Use https, http or mailto, or an address on this site."
TAG = (
    "<{0}> is not an HTML element that a text may hold, so it would vanish. Remove it, or write "
    "&lt; for a < that begins no tag."
)
RAW_HTML = (
    "Formulas and Markdown inside a block of raw HTML are not rendered. Write it as Markdown, "
    "without the HTML tags."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake at `offset` (characters, from 0) of the Markdown text."""

    offset: int
    message: str


def lint_tree(root: Element, source: MarkdownSource) -> list[Finding]:
    """Findings in the tree after inline processing, before escaped characters are put back."""
    findings: list[Finding] = []
    used: set[int] = set()
    for text, in_cell in _texts(root, False):
        for match in re.finditer(r"\$+", text):
            following = _following(text, match.end())
            message = _dollar_message(match.group(), text[match.end() :], in_cell)
            if message is not None:
                offset = source.stray_offset(match.group(), following, used)
                if message == UNCLOSED and "$$" in source.text[max(0, offset - 1) : offset + 2]:
                    message = DISPLAY
                findings.append(Finding(offset, message))
        for match in _ESCAPED_OPENING.finditer(text):
            sign = "\\" + chr(int(match.group(1)))
            offset = source.stray_offset(sign, _following(text, match.end()), used)
            findings.append(Finding(offset, BRACKET))
    for element in root.iter():
        address = element.get("src") if element.tag == "img" else None
        if address is not None and not is_on_this_site(address):
            findings.append(Finding(source.stray_offset(address, "", used), PICTURE))
        address = element.get("href") if element.tag == "a" else None
        if address is not None and not is_allowed_link(address):
            findings.append(Finding(source.stray_offset(address, "", used), LINK))
    return findings


def lint_raw_html(blocks: list[str], source: MarkdownSource) -> list[Finding]:
    """Findings in the pieces of HTML that Markdown passes through as they are."""
    findings: list[Finding] = []
    used: set[int] = set()
    for block in blocks:
        if re.match(r"<div [^>]*\bhighlight\b", block):
            continue  # a fence of code, not of the author's making
        for tag in re.findall(r"<([a-zA-Z][a-zA-Z0-9-]*)", block):
            if tag.lower() not in ALLOWED_TAGS:
                findings.append(Finding(source.stray_offset("<", tag, used), TAG.format(tag)))
        match = _RAW_HTML_FORMULA.search(block)
        if match:
            findings.append(Finding(max(0, source.text.find(match.group())), RAW_HTML))
    return findings


def _texts(element: Element, in_cell: bool) -> Iterator[tuple[str, bool]]:
    """The text nodes that are prose, with whether they stand in a table cell."""
    if element.tag in {"code", "pre"} or element.get("class") == MATH_CLASS:
        return
    in_cell = in_cell or element.tag in {"td", "th"}
    if element.text:
        yield element.text, in_cell
    for child in element:
        yield from _texts(child, in_cell)
        if child.tail:
            yield child.tail, in_cell


def _following(text: str, start: int) -> str:
    """What follows, as far as it is sure to stand like that in the source."""
    return re.split(r"[\x02\x03\n]", text[start : start + 12], maxsplit=1)[0]


def _dollar_message(signs: str, rest: str, in_cell: bool) -> str | None:
    if in_cell:
        return IN_CELL
    if len(signs) > 1:
        return DISPLAY
    paragraph_rest = _SPECIAL.split(rest, maxsplit=1)[0]
    if re.match(r"\d", rest) and not re.search(r"\\[A-Za-z]|[_^]\{", paragraph_rest):
        return None
    return UNCLOSED
