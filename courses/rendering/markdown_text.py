"""Markdown to clean HTML, with a token in place of each formula.

The text is parsed as GitHub parses it (`github.py`), with formulas set aside. The tree then goes
through Python-Markdown's later steps (ids of headings, line breaks, serialisation, stashed HTML),
and the HTML through an allow-list of elements. Formulas are inserted last, so that the list need
not allow KaTeX's markup.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, ElementTree

import markdown
from markdown.blockparser import BlockParser
from markdown.extensions.toc import TocExtension
from markdown.treeprocessors import Treeprocessor
from pymdownx.highlight import Highlight

from courses.rendering.clean import clean_html
from courses.rendering.github import MAX_NESTING, github_parser
from courses.rendering.markdown_lint import LintMessage
from courses.rendering.markdown_tree import ConvertedText, TreeBuilder
from courses.rendering.model import too_long
from courses.rendering.source_map import SourceLines

MAX_TEXT_CHARACTERS = 50_000
RESERVED_ID = re.compile(r"(?:formula|step|line|figure|question|part|mechanism|choice|title)-")

_TOKEN_IN_SLUG = re.compile(r"mathtoken[0-9a-f]{16}n\d+e")
ONE_PARAGRAPH = (
    "This field takes one paragraph of text. Remove the empty line, the list, the heading or the "
    "display formula."
)
TOO_DEEP = "Lists, quotes or emphasis are nested too deeply in this text. Make it flatter."
# Python-Markdown's steps for Markdown as of 2004.
_OLD_STEPS = {
    "preprocessors": ("normalize_whitespace", "html_block"),
    "treeprocessors": ("inline", "unescape"),
}


class _GitHubParser(BlockParser):
    """Replaces Python-Markdown's own parser."""

    def __init__(self, md: markdown.Markdown) -> None:
        super().__init__(md)
        self._github = github_parser()
        # The first lines of code may be empty.
        self._highlight = Highlight(md, stripnl=False)
        self.single_paragraph = True

    def start(self, name: str, converted: ConvertedText) -> None:
        """Set the next text, and where to record its messages."""
        self._prefix, self._converted = slugify(name, "-") or "text", converted

    def parseDocument(self, lines: Iterable[str]) -> ElementTree:
        text = "\n".join(lines)
        env: dict[str, Any] = {}
        tokens = self._github.parse(text, env)
        inner = [child for token in tokens for child in token.children or ()]
        if any(token.level >= MAX_NESTING - 1 for token in tokens + inner):
            self._converted.messages.append(LintMessage(0, TOO_DEEP))
        builder = TreeBuilder(
            converted=self._converted,
            source=SourceLines(text),
            digest=hashlib.sha256(text.encode()).hexdigest()[:16],
            prefix=self._prefix,
            stash=self.md.htmlStash.store,
            highlight=self._highlighted,
        )
        root = builder.build(tokens, env.get("footnotes", {}).get("refs", {}))
        self.single_paragraph = [child.tag for child in root] in ([], ["p"])
        _wrap_tables(root)
        return ElementTree(root)

    def _highlighted(self, code: str, language: str) -> str:
        return str(self._highlight.highlight(code, language, "highlight"))


class _HeadingIds(Treeprocessor):
    """Deduplicates ids of headings within a page, and keeps them off the page's own ids."""

    def __init__(self, md: markdown.Markdown) -> None:
        super().__init__(md)
        self._used_ids: set[str] = set()
        self._last_number: dict[str, int] = {}

    def run(self, root: Element) -> None:
        used = self._used_ids
        for element in root.iter():
            wanted = element.get("id")
            if wanted is None or not re.fullmatch(r"h[1-6]", element.tag):
                continue
            base = f"about-{wanted}" if RESERVED_ID.match(wanted) else wanted
            unique, number = base, self._last_number.get(base, 1)
            while unique in used:
                number += 1
                unique = f"{base}-{number}"
            self._last_number[base] = number
            used.add(unique)
            element.set("id", unique)


class TextRenderer:
    """Converts the texts of one call. Not thread-safe; cheap to create."""

    def __init__(self) -> None:
        self._md = markdown.Markdown(
            # As an object: looking extensions up by name reads the metadata of every package.
            extensions=[TocExtension(slugify=slugify, marker="", permalink=False)],
        )
        for registry, names in _OLD_STEPS.items():
            for name in names:
                getattr(self._md, registry).deregister(name)
        self._parser = _GitHubParser(self._md)
        self._md.parser = self._parser
        self._md.treeprocessors.register(_HeadingIds(self._md), "learnml-heading-ids", 4)

    def convert(self, name: str, text: str, inline: bool) -> ConvertedText:
        """Convert one text; mistakes go into its messages, nothing is raised for them."""
        converted = ConvertedText()
        if len(text) > MAX_TEXT_CHARACTERS:
            converted.messages.append(
                LintMessage(MAX_TEXT_CHARACTERS, too_long(len(text), MAX_TEXT_CHARACTERS))
            )
            return converted
        self._parser.start(name, converted)
        self._md.reset()
        try:
            html = self._md.convert(text)
        except RecursionError:
            converted.messages.append(LintMessage(0, TOO_DEEP))
            return converted
        converted.html = clean_html(html)
        if inline:
            self._unwrap(text, converted)
        return converted

    def _unwrap(self, text: str, converted: ConvertedText) -> None:
        """Remove the element around the single paragraph."""
        html = converted.html.strip()
        inner = html.removeprefix("<p>").removesuffix("</p>")
        wrapped = len(html) == len(inner) + len("<p></p>") and "<p" not in inner
        if (self._parser.single_paragraph or not html) and (not html or wrapped):
            converted.html = inner
            return
        second = re.search(r"\n[ \t]*\n\s*(?=\S)", text)
        converted.messages.append(LintMessage(second.end() if second else 0, ONE_PARAGRAPH))


def slugify(value: str, separator: str) -> str:
    """Return an id for a heading: letters, digits and separators, without formulas."""
    plain = _TOKEN_IN_SLUG.sub(" ", value).casefold()
    plain = re.sub(r"&[a-z0-9#]+;", " ", plain)
    return separator.join(re.findall(r"[^\W_]+", plain)) or "section"


def _wrap_tables(root: Element) -> None:
    """Put wide tables in a scrollable box that the keyboard can reach."""
    for parent in list(root.iter()):
        for index, child in enumerate(list(parent)):
            if child.tag == "table" and parent.get("class") != "table-scroll":
                box = Element("div", {"class": "table-scroll", "tabindex": "0"})
                box.set("role", "group")
                box.set("aria-label", "Table")
                box.tail, child.tail = child.tail, None
                box.append(child)
                parent[index] = box
