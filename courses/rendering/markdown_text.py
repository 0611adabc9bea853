"""Markdown to clean HTML with a token in the place of each formula.

The order makes it safe and right: Markdown finds the formulas and leaves them alone, the HTML is
cleaned against a list of elements, and only then the formulas are put in, so that the list need
not allow what KaTeX writes.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import markdown
from markdown.extensions.attr_list import AttrListExtension
from markdown.extensions.footnotes import FootnoteExtension
from markdown.extensions.sane_lists import SaneListExtension
from markdown.extensions.tables import TableExtension
from markdown.extensions.toc import TocExtension
from markdown.treeprocessors import Treeprocessor
from pymdownx.arithmatex import ArithmatexExtension
from pymdownx.blocks.details import DetailsExtension
from pymdownx.highlight import HighlightExtension
from pymdownx.superfences import SuperFencesCodeExtension

from courses.rendering.clean import clean_html
from courses.rendering.markdown_lint import MATH_CLASS, Finding, lint_raw_html, lint_tree
from courses.rendering.markdown_sources import MarkdownSource
from courses.rendering.model import too_long
from courses.rendering.tex import Formula

MAX_TEXT_CHARACTERS = 50_000
# The page's title and the titles of its parts are above every heading of a text.
MIN_HEADING_LEVEL = 3
RESERVED_ID = re.compile(r"(?:formula|step|line|figure|question|part|mechanism|choice|title)-")

_TOKEN_IN_SLUG = re.compile(r"mathtoken[0-9a-f]{16}n\d+e")
ONE_PARAGRAPH = (
    "This field takes one paragraph of text. Remove the empty line, the list, the heading or the "
    "display formula."
)
TOO_DEEP = "Lists, quotes or emphasis are nested too deeply in this text. Make it flatter."
UNREADABLE = (
    "This text cannot be read as Markdown, most likely because of an unfinished HTML tag. Write "
    "&lt; for a < that begins no tag."
)


@dataclass(frozen=True, slots=True)
class PlacedFormula:
    """A formula, the token that stands for it and the offset in the source of its characters."""

    formula: Formula
    token: str
    occurrence: int


@dataclass(slots=True)
class Draft:
    """A converted text in which formulas are still tokens."""

    html: str = ""
    formulas: list[PlacedFormula] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class _Collector(Treeprocessor):
    """Takes the formulas out, looks for mistakes and tidies the tree."""

    name = "learnml"

    def start(self, source: MarkdownSource, draft: Draft, used_ids: set[str]) -> None:
        self.source, self.draft, self.used_ids = source, draft, used_ids
        self.single_paragraph = True

    def run(self, root: Element) -> None:
        self.single_paragraph = [child.tag for child in root] in ([], ["p"])
        digest = hashlib.sha256(self.source.text.encode()).hexdigest()[:16]
        counts: dict[Formula, int] = {}
        for element in root.iter():
            if MATH_CLASS in element.get("class", "").split() and element.text:
                element.attrib = {"class": MATH_CLASS}
                formula = _formula(element.text, display=element.tag == "div")
                token = f"mathtoken{digest}n{len(self.draft.formulas)}e"
                occurrence = counts.get(formula, 0)
                counts[formula] = occurrence + 1
                self.draft.formulas.append(PlacedFormula(formula, token, occurrence))
                element.text = token
            elif re.fullmatch(r"h[1-6]", element.tag):
                element.tag = f"h{max(MIN_HEADING_LEVEL, int(element.tag[1]))}"
            elif element.tag in {"th", "td"}:
                _tidy_cell(element)
        self.draft.findings += lint_tree(root, self.source)
        _wrap_tables(root)


class _HeadingIds(Treeprocessor):
    """After headings have ids: one id is used once on a page, and none takes the page's own."""

    def __init__(self, md: markdown.Markdown, collector: _Collector) -> None:
        super().__init__(md)
        self.collector = collector

    def run(self, root: Element) -> None:
        used = self.collector.used_ids
        for element in root.iter():
            wanted = element.get("id")
            if wanted is None or not re.fullmatch(r"h[1-6]", element.tag):
                continue
            base = f"about-{wanted}" if RESERVED_ID.match(wanted) else wanted
            unique, number = base, 1
            while unique in used:
                number += 1
                unique = f"{base}-{number}"
            used.add(unique)
            element.set("id", unique)


class _Footnotes(FootnoteExtension):
    """Footnote ids carry the name of the text, because a page shows many texts."""

    prefix = "text"

    def makeFootnoteId(self, id: str) -> str:
        return f"fn:{self.prefix}-{id}"

    def makeFootnoteRefId(self, id: str, found: bool = False) -> str:
        return self.unique_ref(f"fnref:{self.prefix}-{id}", found)


class TextRenderer:
    """Converts the texts of one call. Not for two threads at once; cheap enough to make anew."""

    def __init__(self) -> None:
        self._footnotes = _Footnotes()
        self._md = markdown.Markdown(
            # As objects: looking extensions up by name reads the metadata of every package.
            extensions=[
                AttrListExtension(),
                SaneListExtension(),
                TableExtension(use_align_attribute=True),
                self._footnotes,
                TocExtension(slugify=slugify, marker="", permalink=False),
                ArithmatexExtension(generic=True, smart_dollar=True, preview=False),
                HighlightExtension(css_class="highlight", guess_lang=False),
                SuperFencesCodeExtension(),
                DetailsExtension(),
            ],
        )
        self._collector = _Collector(self._md)
        self._md.treeprocessors.register(self._collector, "learnml-collect", 6)
        self._md.treeprocessors.register(
            _HeadingIds(self._md, self._collector), "learnml-heading-ids", 4
        )
        self._used_ids: set[str] = set()

    def convert(self, name: str, text: str, inline: bool) -> Draft:
        """The draft of one text; mistakes go into its findings, nothing is raised for them."""
        draft = Draft()
        if len(text) > MAX_TEXT_CHARACTERS:
            draft.findings.append(
                Finding(MAX_TEXT_CHARACTERS, too_long(len(text), MAX_TEXT_CHARACTERS))
            )
            return draft
        source = MarkdownSource(text)
        self._collector.start(source, draft, self._used_ids)
        self._footnotes.prefix = slugify(name, "-") or "text"
        self._md.reset()
        try:
            html = self._md.convert(text)
        except RecursionError:
            draft.findings.append(Finding(0, TOO_DEEP))
            return draft
        except (AssertionError, ValueError, IndexError):
            draft.findings.append(Finding(max(0, text.find("<")), UNREADABLE))
            return draft
        raw = [block for block in self._md.htmlStash.rawHtmlBlocks if isinstance(block, str)]
        draft.findings += lint_raw_html(raw, source)
        draft.html = clean_html(html)
        if inline:
            self._unwrap(text, draft)
        return draft

    def _unwrap(self, text: str, draft: Draft) -> None:
        """Take the one paragraph out of its element."""
        html = draft.html.strip()
        inner = html.removeprefix("<p>").removesuffix("</p>")
        wrapped = len(html) == len(inner) + len("<p></p>") and "<p" not in inner
        if self._collector.single_paragraph and (not html or wrapped):
            draft.html = inner
            return
        second = re.search(r"\n[ \t]*\n\s*(?=\S)", text)
        draft.findings.append(Finding(second.end() if second else 0, ONE_PARAGRAPH))


def slugify(value: str, separator: str) -> str:
    """An id from a heading: letters, digits and separators; formulas are left out."""
    plain = _TOKEN_IN_SLUG.sub(" ", value).casefold()
    plain = re.sub(r"&[a-z0-9#]+;", " ", plain)
    return separator.join(re.findall(r"[^\W_]+", plain)) or "section"


def _formula(wrapped: str, display: bool) -> Formula:
    r"""Arithmatex writes `\(TeX\)` and `\[TeX\]`."""
    return Formula(wrapped[2:-2], display)


def _tidy_cell(cell: Element) -> None:
    align = cell.attrib.pop("align", "")
    if align:
        cell.set("class", f"align-{align}")
    if cell.tag == "th":
        cell.set("scope", "col")


def _wrap_tables(root: Element) -> None:
    """A wide table scrolls in its own box, which the keyboard can reach."""
    for parent in list(root.iter()):
        for index, child in enumerate(list(parent)):
            if child.tag == "table" and parent.get("class") != "table-scroll":
                box = Element("div", {"class": "table-scroll", "tabindex": "0"})
                box.set("role", "group")
                box.set("aria-label", "Table")
                box.tail, child.tail = child.tail, None
                box.append(child)
                parent[index] = box
