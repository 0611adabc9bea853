"""From the parser's tokens to the tree for Python-Markdown's later steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from markdown_it.token import Token

from courses.rendering.markdown_lint import (
    FENCE,
    NO_ALT,
    UNUSED_FOOTNOTE,
    LintMessage,
    address_message,
    html_addresses,
    lint_bullets,
    lint_html,
)
from courses.rendering.model import Link
from courses.rendering.source_map import SourceLines, SourceMap
from courses.rendering.tex import Formula

MATH_CLASS = "arithmatex"
# Headings of a text rank below the page's title and the titles of its parts.
MIN_HEADING_LEVEL = 3
_OWN_ID = re.compile(r"\s*\{#([\w:.-]{1,200})\}\s*$")
_LABEL = re.compile(r"[\w.-]{1,80}")
_FENCE_END = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*")
_LANGUAGE = re.compile(r"\{?\s*\.?([\w+#.-]+)")
_FOOTNOTE_DEFINITION = r"^[ \t>]*\[\^{}\]:"


@dataclass(frozen=True, slots=True)
class PlacedFormula:
    """A formula, its token, and the positions of its characters in the source."""

    formula: Formula
    token: str
    places: SourceMap
    start: int

    def offset(self, offset_in_tex: int) -> int:
        return self.places.offset(self.start + offset_in_tex)


@dataclass(slots=True)
class ConvertedText:
    """A text as HTML, with tokens where its formulas go."""

    html: str = ""
    formulas: list[PlacedFormula] = field(default_factory=list)
    messages: list[LintMessage] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


class TreeBuilder:
    """Builds the tree of one text, and records its formulas, links and mistakes in `converted`.

    `digest` keeps the formulas' tokens distinct from any text, `prefix` the ids of footnotes from
    those of the page's other texts. `stash` stores HTML for later and returns a placeholder,
    `highlight` returns the HTML of code in a language.
    """

    def __init__(
        self,
        converted: ConvertedText,
        source: SourceLines,
        digest: str,
        prefix: str,
        stash: Callable[[str], str],
        highlight: Callable[[str, str], str],
    ) -> None:
        self.converted, self.source, self.digest, self.prefix = converted, source, digest, prefix
        self.stash, self.highlight = stash, highlight
        self.root = Element("div")
        self.stack = [self.root]
        self.places = SourceMap([])
        self.in_cell, self.cell_end = False, 0

    def build(self, tokens: Sequence[Token], footnotes: Mapping[str, int]) -> Element:
        """Return the tree. `footnotes` lists the defined ones, -1 where nothing refers to one."""
        for token in tokens:
            self._add(token)
        for label, number in footnotes.items():
            if number < 0:
                self._unused_footnote(label.removeprefix(":"))
        return self.root

    def _add(self, token: Token) -> None:
        special = getattr(self, f"on_{token.type}", None)
        if special is not None:
            special(token)
        elif token.nesting == 1 and not token.hidden:
            self._open(token.tag)
        elif token.nesting == -1 and not token.hidden:
            self.stack.pop()
        elif token.nesting == 0:
            SubElement(self.stack[-1], token.tag)

    def _open(self, tag: str, **attributes: str) -> Element:
        element = SubElement(self.stack[-1], tag, attributes)
        self.stack.append(element)
        return element

    def _write(self, text: str) -> None:
        # The serialiser would take "&lt;" for an existing entity.
        self._raw(text.replace("&", "&amp;"))

    def _raw(self, text: str) -> None:
        parent = self.stack[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text

    def _find(self, offset: int, message: str) -> None:
        self.converted.messages.append(LintMessage(offset, message))

    def _line_start(self, token: Token) -> int:
        return self.source.start(token.map[0]) if token.map else 0

    # --- blocks ------------------------------------------------------------------------------

    def on_heading_open(self, token: Token) -> None:
        self._open(f"h{max(MIN_HEADING_LEVEL, int(token.tag[1]))}")

    def on_heading_close(self, token: Token) -> None:
        heading = self.stack.pop()
        last = heading[-1] if len(heading) else heading
        text = (last.tail if len(heading) else last.text) or ""
        own = _OWN_ID.search(text)
        if own is None:
            return
        heading.set("id", own.group(1))
        if len(heading):
            last.tail = text[: own.start()]
        else:
            last.text = text[: own.start()]

    def on_ordered_list_open(self, token: Token) -> None:
        start = token.attrGet("start")
        self._open("ol", **({} if start is None else {"start": str(start)}))

    def on_bullet_list_open(self, token: Token) -> None:
        self._open("ul")

    def on_list_item_open(self, token: Token) -> None:
        item = self._open("li")
        if "checked" in token.meta:
            item.set("class", "task")
            box = SubElement(self.stack[-1], "input", type="checkbox", disabled="disabled")
            box.set("aria-label", "done" if token.meta["checked"] else "to do")
            if token.meta["checked"]:
                box.set("checked", "checked")
            box.tail = " "

    def on_alert_open(self, token: Token) -> None:
        self._open("blockquote")

    def on_alert_title_open(self, token: Token) -> None:
        self._open("p")
        self._open("strong")

    def on_alert_title_close(self, token: Token) -> None:
        del self.stack[-2:]

    def on_details_open(self, token: Token) -> None:
        if "message" in token.meta:
            self._find(self._line_start(token), token.meta["message"])
        self._open("details")

    def on_th_open(self, token: Token) -> None:
        self._cell(token).set("scope", "col")

    def on_td_open(self, token: Token) -> None:
        self._cell(token)

    def _cell(self, token: Token) -> Element:
        align = str(token.attrGet("style") or "").removeprefix("text-align:")
        return self._open(token.tag, **({"class": f"align-{align}"} if align else {}))

    def on_tr_open(self, token: Token) -> None:
        self._open("tr")
        self.cell_end = self._line_start(token)

    def on_fence(self, token: Token) -> None:
        first, end = token.map or [0, 0]
        closing = _FENCE_END.fullmatch(self.source.lines[end - 1]) if end - first > 1 else None
        if closing is None or not closing.group(1).startswith(token.markup):
            self._find(self._line_start(token), FENCE.format(token.markup))
        language = _LANGUAGE.match(token.info.strip())
        name = language.group(1) if language else ""
        if name == "math":
            places = self.source.paragraph(token.content, first + 1)
            self._formula(token.content.rstrip("\n"), True, places, 0)
        else:
            self._block_html(self.highlight(token.content, name))

    def on_code_block(self, token: Token) -> None:
        self._block_html(self.highlight(token.content, ""))

    def on_html_block(self, token: Token) -> None:
        places = self.source.paragraph(token.content, token.map[0] if token.map else 0)
        self._judge_html(token.content, places, 0, is_block=True)
        self._block_html(token.content)

    def _block_html(self, html: str) -> None:
        self._raw(f"\n{self.stash(html)}\n")

    def on_math_block(self, token: Token) -> None:
        whole, start = token.meta["whole"], token.meta["start"]
        places = self.source.paragraph(whole, token.map[0] if token.map else 0)
        self._formula(token.content, True, places, start)

    def on_inline(self, token: Token) -> None:
        line = token.map[0] if token.map else 0
        self.in_cell = self.stack[-1].tag in {"td", "th"}
        if self.in_cell:
            self.places, self.cell_end = self.source.cell(token.content, line, self.cell_end)
        else:
            self.places = self.source.paragraph(token.content, line)
            for index, message in lint_bullets(token.content):
                self._find(self.places.offset(index), message)
        for child in token.children or ():
            self._add(child)

    # --- in a line ---------------------------------------------------------------------------

    def on_text(self, token: Token) -> None:
        self._write(token.content)

    def on_softbreak(self, token: Token) -> None:
        self._raw("\n")

    def on_code_inline(self, token: Token) -> None:
        self._open("code")
        self._write(token.content)
        self.stack.pop()

    def on_s_open(self, token: Token) -> None:
        self._open("del")

    def on_html_inline(self, token: Token) -> None:
        self._judge_html(token.content, self.places, token.meta["at"], is_block=False)
        self._raw(self.stash(token.content))

    def on_math(self, token: Token) -> None:
        at = token.meta["at"]
        tex = token.content
        if self.in_cell:
            # In a table \| is an escaped bar, in TeX a norm: formulas keep their source.
            tex = self.source.text[self.places.offset(at) : self.places.offset(at + len(tex))]
            self._formula(tex, False, SourceMap([(0, self.places.offset(at))]), 0)
        else:
            self._formula(tex, False, self.places, at)

    def _formula(self, tex: str, display: bool, places: SourceMap, start: int) -> None:
        token = f"mathtoken{self.digest}n{len(self.converted.formulas)}e"
        formula = Formula(tex, display)
        self.converted.formulas.append(PlacedFormula(formula, token, places, start))
        element = SubElement(self.stack[-1], "div" if display else "span")
        element.set("class", MATH_CLASS)
        element.text = token

    def on_stray(self, token: Token) -> None:
        self._find(self.places.offset(token.meta["at"]), token.meta["message"])
        self._write(token.content)

    def on_link_open(self, token: Token) -> None:
        address = str(token.attrGet("href") or "")
        self._note_address(token, address, is_picture=False)
        title = token.attrGet("title")
        attributes = {"href": address} | ({} if title is None else {"title": str(title)})
        self._open("a", **{name: _escaped(value) for name, value in attributes.items()})

    def on_image(self, token: Token) -> None:
        address, title = str(token.attrGet("src") or ""), token.attrGet("title")
        self._note_address(token, address, is_picture=True)
        alt = _plain(token.children or ())
        if not alt.strip():
            self._find(self.places.offset(token.meta.get("at", 0)), NO_ALT)
        attributes = {"src": address, "alt": alt} | ({} if title is None else {"title": str(title)})
        SubElement(
            self.stack[-1], "img", {name: _escaped(value) for name, value in attributes.items()}
        )

    def _judge_html(self, html: str, places: SourceMap, start: int, is_block: bool) -> None:
        for index, message in lint_html(html, is_block):
            self._find(places.offset(start + index), message)
        for index, address, is_picture in html_addresses(html):
            self._judge_address(address, places.offset(start + index), is_picture)

    def _note_address(self, token: Token, address: str, is_picture: bool) -> None:
        if "at" not in token.meta:
            return  # a bare address of another site
        begin = self.places.offset(token.meta["at"])
        end = self.places.offset(token.meta["end"])
        place = self.source.text.find(address, begin, end) if address else -1
        self._judge_address(address, begin if place < 0 else place, is_picture)

    def _judge_address(self, address: str, offset: int, is_picture: bool) -> None:
        message = address_message(address, is_picture)
        if message is None:
            self.converted.links.append(Link(address, offset, is_picture))
        else:
            self._find(offset, message)

    # --- footnotes ---------------------------------------------------------------------------

    def on_footnote_ref(self, token: Token) -> None:
        label, number = self._label(token), token.meta["id"] + 1
        again = token.meta["subId"] + 1
        self._open("sup", id=f"fnref{again if again > 1 else ''}:{self.prefix}-{label}")
        link = self._open("a", href=f"#fn:{self.prefix}-{label}")
        link.set("class", "footnote-ref")
        self._write(str(number))
        del self.stack[-2:]

    def on_footnote_block_open(self, token: Token) -> None:
        self._open("div").set("class", "footnote")
        SubElement(self.stack[-1], "hr")
        self._open("ol")

    def on_footnote_block_close(self, token: Token) -> None:
        del self.stack[-2:]

    def on_footnote_open(self, token: Token) -> None:
        self._open("li", id=f"fn:{self.prefix}-{self._label(token)}")

    def on_footnote_anchor(self, token: Token) -> None:
        label, again = self._label(token), token.meta["subId"] + 1
        self._raw("\N{NO-BREAK SPACE}")
        link = self._open("a", href=f"#fnref{again if again > 1 else ''}:{self.prefix}-{label}")
        link.set("class", "footnote-backref")
        link.set("title", f"Jump back to footnote {token.meta['id'] + 1} in the text")
        self._write("↩")
        self.stack.pop()

    def _label(self, token: Token) -> str:
        label = str(token.meta["label"])
        return label if _LABEL.fullmatch(label) else str(token.meta["id"] + 1)

    def _unused_footnote(self, label: str) -> None:
        definition = re.search(
            _FOOTNOTE_DEFINITION.format(re.escape(label)), self.source.text, re.MULTILINE
        )
        self._find(definition.start() if definition else 0, UNUSED_FOOTNOTE.format(label))


def _escaped(value: str) -> str:
    return value.replace("&", "&amp;")


def _plain(tokens: Sequence[Token]) -> str:
    """Return the text of tokens without markup, as the alternative text of a picture."""
    words: list[str] = []
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            words.append("\n")
        elif token.children:
            words.append(_plain(token.children))
        elif token.type == "math":
            words.append(f"${token.content}$")
        elif token.type != "html_inline":
            words.append(token.content)
    return "".join(words)
