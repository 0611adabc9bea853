"""The documents of the index: each addressable place of a chapter's page, with its texts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from .markup import Passage, passages, readable

_LINE = re.compile(r'<span class="line" id="([^"]+)" data-line="(\d+)">')


class SegmentKind(IntEnum):
    """The kind of a segment; its value is its weight in the ranking."""

    CODE = 1
    PROSE = 2
    TEX = 3
    SYMBOL = 12
    TITLE = 24


@dataclass(frozen=True, slots=True)
class Segment:
    """One text of a document. A line of code has its own anchor."""

    kind: SegmentKind
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """An addressable place of a page: `anchor` is its id, empty for the chapter as a whole."""

    section: str
    title: str
    anchor: str
    segments: tuple[Segment, ...]


def documents_of(page: Mapping[str, Any]) -> list[Document]:
    """Return the documents of a revision's page, in order, without its answers."""
    return [document for document in _documents(page) if document.segments]


def _documents(page: Mapping[str, Any]) -> Iterator[Document]:
    about = page["summary_html"] + page.get("prerequisites_html", "")
    yield _document("", page["title"], "", about)
    yield from _part(page, "intuition", "intuition_html")
    yield from _part(page, "formulas", "formulas_intro_html")
    yield from (_formula(page, formula) for formula in page["formulas"])
    yield from _part(page, "derivation", "derivation_intro_html")
    for step in page["steps"]:
        title = f"Step {step['number']}: {step['title']}"
        more = _tex(step["tex"])
        yield _document("derivation", title, f"step-{step['key']}", step["reason_html"], more, page)
    yield from _part(page, "mechanism", "mechanism_intro_html")
    for part in page["mechanism"]:
        anchor = f"mechanism-{part['key']}"
        yield _document("mechanism", part["title"], anchor, part["html"], (), page)
    yield from _part(page, "code", "code_intro_html")
    for listing in page["listings"]:
        yield _listing(page, listing)
    for figure in page.get("figures", ()):
        yield _document("", figure["title"], f"figure-{figure['key']}", figure["caption_html"])
    for question in page["questions"]:
        title = f"Question {question['number']}"
        anchor = f"question-{question['key']}"
        yield _document("quiz", title, anchor, _question(question), (), page)
    yield from _part(page, "summary", "summary_text_html")
    yield from _part(page, "references", "references_html")


def _part(page: Mapping[str, Any], part: str, field: str) -> Iterator[Document]:
    """Split the text of a part at its headings."""
    section = page["titles"][part]
    for passage in passages(page.get(field, "")):
        if passage.anchor:
            yield Document(section, passage.title, passage.anchor, _of_passage(passage))
        else:
            yield Document("", section, f"part-{part}", _titled(section, [passage]))


def _document(
    part: str,
    title: str,
    anchor: str,
    markup: str,
    more: tuple[Segment, ...] = (),
    page: Mapping[str, Any] | None = None,
) -> Document:
    section = page["titles"][part] if page else ""
    return Document(section, title, anchor, _titled(title, passages(markup)) + more)


def _titled(title: str, found: list[Passage]) -> tuple[Segment, ...]:
    segments = [segment for passage in found for segment in _of_passage(passage)]
    return (Segment(SegmentKind.TITLE, title), *segments)


def _of_passage(passage: Passage) -> tuple[Segment, ...]:
    texts = [(SegmentKind.TITLE, passage.title), (SegmentKind.PROSE, passage.text)]
    texts += [(SegmentKind.TEX, tex) for tex in passage.formulas]
    return tuple(Segment(kind, text) for kind, text in texts if text)


def _question(question: Mapping[str, Any]) -> str:
    """Return the question's text: the prompt, the code, and its choices, items or pairs."""
    parts = ("choices", "items", "lefts", "rights")
    entries = [entry for part in parts for entry in question.get(part, ())]
    texts = [question["prompt_html"], question.get("code_html", "")]
    return "".join(texts + [f"<p>{entry['html']}</p>" for entry in entries])


def _tex(tex: str) -> tuple[Segment, ...]:
    return (Segment(SegmentKind.TEX, tex),)


def _formula(page: Mapping[str, Any], formula: Mapping[str, Any]) -> Document:
    symbols = tuple(
        Segment(
            SegmentKind.SYMBOL,
            f"{readable(symbol['tex'])} {symbol['name']} {symbol['shape']}".strip(),
        )
        for symbol in formula["symbols"]
    )
    code = tuple(
        Segment(SegmentKind.CODE, line.strip())
        for line in formula["numpy"].splitlines()
        if line.strip()
    )
    more = (*symbols, *_tex(formula["tex"]), *code)
    anchor = f"formula-{formula['key']}"
    return _document("formulas", formula["title"], anchor, formula["note_html"], more, page)


def _listing(page: Mapping[str, Any], listing: Mapping[str, Any]) -> Document:
    """Give each line of code its own anchor, the one that its number links to."""
    anchors = {int(n): html.unescape(anchor) for anchor, n in _LINE.findall(listing["html"])}
    lines = tuple(
        Segment(SegmentKind.CODE, line.strip(), anchors.get(number, ""))
        for number, line in enumerate(listing["code"].splitlines(), start=1)
        if line.strip()
    )
    title = (
        f"{listing['filename']}: {listing['title']}" if listing["title"] else listing["filename"]
    )
    return Document(
        page["titles"]["code"], title, "part-code", (Segment(SegmentKind.TITLE, title), *lines)
    )
