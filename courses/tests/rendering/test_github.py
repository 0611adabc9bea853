"""Texts are shown as GitHub's renderer shows them, or saving reports the line."""

from __future__ import annotations

import json
import re
import sys
from types import FrameType
from typing import Any

import pytest

from courses.rendering import Rendered, Source, render_all
from courses.rendering.markdown_text import TextRenderer
from courses.tests.rendering.as_github import GITHUB
from courses.tests.rendering.nasty import FOUND, NASTY
from courses.tests.rendering.structure import structure


@pytest.fixture(scope="module")
def rendered() -> Rendered:
    return render_all({name: Source("markdown", text) for name, text in NASTY.items()})


@pytest.fixture(scope="module")
def github() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(GITHUB.read_text(encoding="utf-8"))
    assert kept["renderer"].startswith("cmark-gfm ")
    return kept["texts"]


def show(text: str) -> list[str]:
    result = render_all({"a": Source("markdown", text)})
    assert result.errors == {}
    return structure(result.html["a"])


def test_there_are_at_least_sixty_texts_that_are_shown_and_the_rest_is_found() -> None:
    assert len(NASTY) - len(FOUND) >= 60
    assert set(FOUND) <= set(NASTY)


def test_the_golden_files_of_github_match_these_texts(github: dict[str, Any]) -> None:
    assert {name: kept["text"] for name, kept in github.items()} == NASTY


@pytest.mark.parametrize("name", [name for name in NASTY if name not in FOUND])
def test_the_page_shows_what_github_shows(
    rendered: Rendered, github: dict[str, Any], name: str
) -> None:
    assert name not in rendered.errors
    assert structure(rendered.html[name]) == structure(github[name]["html"])


@pytest.mark.parametrize("name", FOUND)
def test_or_saving_names_the_line(rendered: Rendered, name: str) -> None:
    line, words = FOUND[name]
    first = rendered.errors[name][0]
    assert first.line == line
    assert words in first.message


def test_the_comparison_sees_what_a_reader_would_see() -> None:
    """Two texts that look different never come down to the same structure."""
    pairs = [
        ("<ul><li>a<ul><li>b</li></ul></li></ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<p>a b</p>", "<p>a</p><p>b</p>"),
        ("<p>a<br>b</p>", "<p>a\nb</p>"),
        ("<ol><li>a</li></ol>", '<ol start="2"><li>a</li></ol>'),
        ("<p><em>a</em></p>", "<p>a</p>"),
        ("<pre><code>a\n b</code></pre>", "<pre><code>a b</code></pre>"),
        ('<p><a href="/a/">x</a></p>', '<p><a href="/b/">x</a></p>'),
        ('<p><img src="/a.png" alt="a"></p>', '<p><img src="/a.png" alt="b"></p>'),
        ('<td class="align-right">1</td>', "<td>1</td>"),
        ("<p>a</p>", '<p><span class="math-inline"><annotation>a</annotation></span></p>'),
    ]
    for one, other in pairs:
        assert structure(one) != structure(other)
    assert structure('<p>a <span class="k">b</span></p>\n') == structure("<p> a\nb</p>")


# --- what GitHub shows beyond its open renderer ----------------------------------------------


def test_alerts_have_their_title() -> None:
    assert show("> [!WARNING]\n> Mind *this*.") == [
        *("<blockquote>", "<p>", "<strong>", "Warning", "</strong>", "</p>"),
        *("<p>", "Mind ", "<em>", "this", "</em>", ".", "</p>", "</blockquote>"),
    ]


def test_only_tasks_lose_their_bullet_and_no_other_inputs_are_made() -> None:
    text = '- [x] done\n- [ ] to do\n- no task\n\n<input type="text" value="x" checked>'
    result = render_all({"a": Source("markdown", text)})
    assert result.html["a"].count('<li class="task">') == 2
    assert 'aria-label="done" checked="checked"' in result.html["a"]
    assert 'type="text"' not in result.html["a"]
    (error,) = result.errors["a"]
    assert "<input>" in error.message


def test_formulas_in_githubs_other_two_spellings() -> None:
    assert show("so $`a_1 * b_2 * c`$ is") == ["<p>", "so $a_1 * b_2 * c$ is", "</p>"]
    assert show("```math\na_1 * b_2 * c\n```") == ["$$a_1 * b_2 * c$$"]


# --- formulas and money ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("$5$ and $10$", "$5$ and $10$"),
        ("$2ND$, $3 \\cdot 4$ and $2 xy$", "$2ND$, $3 \\cdot 4$ and $2 xy$"),
        ("one $a\n+ b$ two", "one $a + b$ two"),
        ("the \\(x\\) (\\(a_1\\))", "the $x$ ($a_1$)"),
    ],
)
def test_formulas_stay_formulas(text: str, shown: str) -> None:
    assert show(text) == ["<p>", shown, "</p>"]


def test_a_display_formula_may_follow_a_line_of_text() -> None:
    parts = ["<p>", "text", "</p>", "$$ x $$", "<p>", "more", "</p>"]
    assert show("text\n$$\nx\n$$\nmore") == parts
    assert show("text\n\\[\nx\n\\]\nmore") == parts


@pytest.mark.parametrize(
    "text",
    [
        "Price: $5-$10, $5\u2013$10, $5/$10, $5+$6, ($5)-($6).",
        "From $5/h to $6/h it is ($3 or $4), i.e. $3+$4.",
        "It is 5$-10$ there, 5$, not 10$, 5$ or 6$/h.",
        "It costs $5 a month and 6$ a week, US$5 to US$10.",
        "| a |\n|---|\n| $5-$10 |\n| about 5$ |\n| $1,000 per month |",
    ],
)
def test_money_is_no_formula(text: str) -> None:
    result = render_all({"a": Source("markdown", text)})
    assert result.errors == {}
    assert "katex" not in result.html["a"]
    assert result.html["a"].count("$") == text.count("$")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("$5 \\times 3", 1, 1),
        ("from $x-$5 on", 1, 6),
        ("a $`b c` d", 1, 3),
        ("a\n\n- b\n\n  set $HOME in `$PATH`", 5, 7),
        ("| a | b |\n|---|---|\n| x | $5 + |x| |", 3, 7),
    ],
)
def test_signs_that_are_neither_are_found(text: str, line: int, column: int) -> None:
    found = render_all({"a": Source("markdown", text)}).errors["a"]
    assert (found[0].line, found[0].column) == (line, column)


# --- mistakes are told at their place --------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Here $x=1$ and then $x@=3$ here.",
        "- a $x$\n  - b $@$\n    1. $y$ $@$",
        "| a | b |\n|--|--|\n| $x$ | $x$ $@$ |\n| `\\|` \\| $y$ | $@$ |",
        "| $P(A\\|@)$ |\n|--|\n| a |",
        "> - q $@$\n>   more $x\n>   + @$",
        "a\u2009b\u00a0$x$ \u2009$@$",
        "- [ ] $@$\n- [x] $x@$",
        "## A $x$ $@$ ##\n\nB $@$\n===",
        "[^1] $x$\n\n[^1]: note $@$\n\n    more $@$",
        "1. a\n\n   $$\n   x\n   @\n   $$",
        "```math\nx\n @\n```",
        "a $`@`$ b",
        "**b $@$** [l $@$](/courses/) ~~$@$~~",
        "/// details | T $@$\nx $@$\n///",
        "\U0001f600 $a$ \U0001f600 $@$",
        "<b>$@$</b> <!-- $x$ --> $@$",
        "$@$ $@$ $@$",
        "- a\n\n  text ${\n  @}$",
    ],
)
def test_each_mistake_in_a_formula_is_reported_at_its_position(text: str) -> None:
    text = text.replace("@", "\\foo")
    found = render_all({"a": Source("markdown", text)}).errors["a"]
    told = [(error.line, error.column) for error in found]
    assert told == [
        (number, match.start() + 1)
        for number, line in enumerate(text.split("\n"), start=1)
        for match in re.finditer(r"\\foo", line)
    ]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("Here $x=1$ and then $x\u2009=3$ here.", 1, 23),
        ("- a\u2009b $x=3$\n  - $x\u2009=3$", 2, 7),
        ("| a\u2009b |\n|---|\n| $x=3$ $x\u2009=3$ |", 3, 11),
    ],
)
def test_an_unknown_space_in_a_formula_is_reported_at_its_position(
    text: str, line: int, column: int
) -> None:
    (error,) = render_all({"a": Source("markdown", text)}).errors["a"]
    assert (error.line, error.column) == (line, column)
    assert "U+2009 (THIN SPACE)" in error.message


# --- work is bounded -------------------------------------------------------------------------

HOSTILE = {
    "brackets": "[" * 20_000,
    "pictures": "![" * 10_000,
    "dollars": "$ " * 20_000,
    "round brackets": "\\(" * 20_000,
    "square brackets": "\\[^" * 10_000,
    "environments": "\\begin{a}\n" * 4_000,
    "addresses": "[ http://a.b " * 3_000,
    "headings": "# a {#a}\n" * 4_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_costs_more_than_its_length(name: str) -> None:
    """Twice the text takes about twice the calls, not four times."""
    text = HOSTILE[name]
    assert calls_for(text) < 3 * calls_for(text[: len(text) // 2])


def calls_for(text: str) -> int:
    """Count the calls of functions, also of those in C, that converting takes."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    renderer = TextRenderer()
    sys.setprofile(counted)
    try:
        renderer.convert("a", text, inline=False)
    finally:
        sys.setprofile(None)
    return count
