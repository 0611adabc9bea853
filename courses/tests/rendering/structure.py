"""What a reader sees of some HTML: its elements and texts, without classes, ids and wrappers.

Both GitHub's HTML and ours come down to the same structure where they show the same.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import unquote

# Elements that only group or colour what is in them.
_WRAPPERS = {"div", "span", "section", "tbody"}
_VOID = {"br", "hr", "img", "input"}
_BLOCKS = {
    *("p", "ul", "ol", "li", "table", "thead", "tr", "th", "td", "blockquote", "pre"),
    *("h3", "h4", "h5", "h6", "hr", "details", "summary"),
}
_SAME = {"h1": "h3", "h2": "h3", "s": "del"}
_KEPT = {"href", "src", "alt", "title", "start", "align", "checked"}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.open: list[tuple[str, str]] = []
        self.formula: list[str] | None = None
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        tag = _SAME.get(tag, tag)
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag not in _VOID:
            self.open.append((tag, given.get("class", "")))
        if self.formula is not None or self._is_in("annotation"):
            return
        if {"math-inline", "math-display"} & set(classes):
            self.formula = []
        elif tag in _WRAPPERS or (tag == "hr" and self._is_in("footnote")):
            return
        elif tag == "strong" and [name for name, _ in self.open].count("strong") > 1:
            return  # nothing is bolder than bold
        else:
            self._flush()
            self.lines.append(f"<{tag}{_attributes(tag, given, classes)}>")

    def handle_endtag(self, tag: str) -> None:
        tag = _SAME.get(tag, tag)
        if tag in _VOID or tag not in {name for name, _ in self.open}:
            return
        while self.open:
            name, classes = self.open.pop()
            if self.formula is not None:
                if {"math-inline", "math-display"} & set(classes.split()):
                    sign = "$$" if "math-display" in classes else "$"
                    self.text += f"{sign}{''.join(self.formula)}{sign}"
                    self.formula = None
            elif name not in _WRAPPERS and not (
                name == "strong" and "strong" in {other for other, _ in self.open}
            ):
                self._flush()
                self.lines.append(f"</{name}>")
            if name == tag:
                break

    def handle_data(self, data: str) -> None:
        if self.formula is None:
            self.text += data
        elif self.open[-1][0] == "annotation":
            self.formula.append(data)

    def _is_in(self, name: str) -> bool:
        return any(name == tag or name in classes.split() for tag, classes in self.open)

    def _flush(self) -> None:
        if self.text.strip() and self._is_in("pre"):
            self.lines.append(repr(self.text.rstrip("\n")))
        elif self.text:
            self.lines.append(re.sub(r"\s+", " ", self.text))
        self.text = ""

    def close(self) -> None:
        super().close()
        self._flush()


def _attributes(tag: str, given: dict[str, str], classes: list[str]) -> str:
    kept = {name: value for name, value in given.items() if name in _KEPT}
    for name in ("href", "src"):
        if name in kept:
            kept[name] = "#fn" if kept[name].startswith("#fn") else unquote(kept[name])
    if "footnote-backref" in classes:
        kept.pop("title", None)
    if "checked" in kept:
        kept["checked"] = ""
    for name in classes:
        if name.startswith("align-"):
            kept["align"] = name.removeprefix("align-")
    return "".join(
        f" {name}={value!r}" for name, value in sorted(kept.items()) if value or name == "checked"
    )


def structure(html: str) -> list[str]:
    """Return elements and texts in order, one a line; spaces at the edges of blocks left out."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines: list[str] = []
    for line in reader.lines:
        if not line.startswith("<") and lines and not lines[-1].startswith("<"):
            lines[-1] += line
        else:
            lines.append(line)
    return list(_without_edges(lines))


def _without_edges(lines: list[str]) -> list[str]:
    kept = []
    for place, line in enumerate(lines):
        if not line.startswith("<"):
            if _is_block(lines[place - 1] if place else "<p>"):
                line = line.lstrip()
            if _is_block(lines[place + 1] if place + 1 < len(lines) else "<p>"):
                line = line.rstrip()
        if line:
            kept.append(line)
    return kept


def _is_block(line: str) -> bool:
    match = re.match(r"</?(\w+)", line)
    return match is not None and (match[1] in _BLOCKS or match[1] == "br")
