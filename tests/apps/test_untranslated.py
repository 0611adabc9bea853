"""Code and formulas are left alone by a browser's translator, wherever a page shows them.

What a page's words are is for the translator; `translate="no"` holds for all that is in an element.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from courses.figures.page import figure_page
from courses.rendering import Source, render_all
from courses.rendering.clean import clean_html
from grader.presentation.page import source_html
from tests.e2e.content import CHAPTER_PATH
from tests.platform.instance import PROJECT

UNTRANSLATED = {"code", "kbd", "math", "pre", "samp", "var"}
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "path", "source", "wbr"}
# A whole tag that is written, not one that is looked for.
TAG_IN_SOURCE = re.compile(r"<(?:code|kbd|math|pre|samp|var)(?:\s+(?!xmlns)[\w-]+=[^>]*)?>")
NESTED = re.compile(r'<pre [^>]*translate="no"[^>]*>(?:<code|<samp)')


class _Reader(HTMLParser):
    """Notes the elements with code or a formula that a translator would change."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.faults: list[str] = []
        self.seen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        kept = attributes.get("translate") == "no" or any(kept for _, kept in self.open)
        if tag in UNTRANSLATED or "katex" in (attributes.get("class") or "").split():
            self.seen += 1
            if not kept:
                self.faults.append(self.get_starttag_text() or tag)
        if tag not in VOID:
            self.open.append((tag, kept))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass


def faults(html: str) -> list[str]:
    reader = _Reader()
    reader.feed(html)
    # Results of a search have neither, but text of both.
    assert reader.seen or "is-code" in html, "There is neither code nor a formula in this."
    return reader.faults


def test_texts_and_formulas() -> None:
    text = (
        "Inline `code`, $x^2$, and \\(y\\).\n\n```python\nx = 1\n```\n\n$$\\frac{1}{2}$$\n\n"
        "<kbd>Ctrl</kbd> <var>x</var> <samp>out</samp>\n\n    indented\n\n"
        "| a |\n| --- |\n| `b` $c$ |\n"
    )
    sources = {
        "text": Source("markdown", text),
        "display": Source("tex_display", "x^2"),
        "inline": Source("tex_inline", "x"),
        "broken": Source("markdown", "$\\frac$ and\n\n$$\\frac$$"),
    }
    for html in render_all(sources).html.values():
        assert faults(html) == []
    assert faults(clean_html("<p><code>a</code> <pre>b</pre></p>")) == []


def test_a_figures_symbols() -> None:
    page = figure_page("scale", "scale-law", "Scale", {"x": [1, 2], "eps": 1e-6, "alpha": 1})
    labels = [control["label"] for group in page["groups"] for control in group["controls"]]
    labels += [one["label"] for one in page["readouts"]]
    labels += [text for goal in page["goals"] for text in (goal["text"], goal["found"])]
    assert faults("".join(labels)) == []


@pytest.mark.parametrize("lines", [3, 10_000])
def test_a_submission(lines: int) -> None:
    assert faults(source_html("x = 1\n" * lines)) == []


@pytest.mark.django_db
def test_pages(client: Client) -> None:
    call_command("load_course", verbosity=0)
    call_command("load_exercises", verbosity=0)
    pages = ("/", CHAPTER_PATH, "/search/?q=rstd", "/exercises/rmsnorm/", "/api/v1/docs/")
    found = {path: faults(client.get(path).content.decode()) for path in pages}
    assert found == dict.fromkeys(pages, [])
    # A line of code that was found is no element of those.
    assert 'is-code" translate="no"' in client.get("/search/?q=rstd").content.decode()


def test_what_templates_programs_and_scripts_write() -> None:
    """Each page's own markup, by its source: what a page shows there is escaped text."""
    wrong = []
    for path in _sources():
        text = path.read_text(encoding="utf-8")
        inside = {match.end() for match in NESTED.finditer(text)}
        for match in TAG_IN_SOURCE.finditer(text):
            is_nested = any(match.start() < end <= match.end() for end in inside)
            if 'translate="no"' not in match[0] and not is_nested:
                wrong.append(f"{path.relative_to(PROJECT)}: {match[0]}")
    assert wrong == []


def _sources() -> list[Path]:
    found = [
        path
        for folder in ("templates", "grader/templates")
        for path in (PROJECT / folder).rglob("*.html")
    ]
    found += [*(PROJECT / "static" / "js").glob("*.js")]
    found += [
        path
        for app in ("courses", "grader", "learnml")
        for path in (PROJECT / app).rglob("*.py")
        if "tests" not in path.parts and path.parent.name not in ("rendering", "kinds")
    ]
    return found
