from __future__ import annotations

import html
import re

import pytest

from courses.rendering import Rendered, Source, render_all, without_marks
from courses.tests.rendering.regenerate import GOLDEN, golden_files
from courses.tests.rendering.samples import MARKDOWN, SILENT_MISTAKES, TEX


def annotations(markup: str) -> list[str]:
    """The TeX that reached KaTeX, as it wrote it beside each formula."""
    found = re.findall(r'<annotation encoding="application/x-tex">(.*?)</annotation>', markup, re.S)
    return [html.unescape(tex) for tex in found]


@pytest.fixture(scope="module")
def markdown() -> Rendered:
    return render_all({name: Source("markdown", text) for name, (text, _) in MARKDOWN.items()})


def test_there_are_at_least_the_thirty_five_known_samples() -> None:
    assert len(MARKDOWN) >= 35


@pytest.mark.parametrize("name", MARKDOWN)
def test_tex_reaches_katex_byte_for_byte(markdown: Rendered, name: str) -> None:
    assert markdown.errors.get(name) is None
    assert annotations(markdown.html[name]) == MARKDOWN[name][1]


def test_bare_tex_reaches_katex_byte_for_byte_but_for_marks() -> None:
    rendered = render_all({name: Source("tex_display", text) for name, text in TEX.items()})
    assert rendered.errors == {}
    for name, text in TEX.items():
        assert annotations(rendered.html[name]) == [without_marks(text)]


@pytest.mark.parametrize("name", ["markdown.html", "markdown.css", "tex.html", "tex.css"])
def test_html_is_byte_for_byte_the_golden_file(name: str) -> None:
    assert golden_files()[name].encode() == (GOLDEN / name).read_bytes()


def test_no_text_that_loses_a_formula_passes_in_silence() -> None:
    rendered = render_all({name: Source("markdown", t) for name, t in SILENT_MISTAKES.items()})
    assert set(rendered.errors) == set(SILENT_MISTAKES)


def test_dollar_signs_that_are_money_are_left_alone(markdown: Rendered) -> None:
    assert markdown.html["money"] == "<p>It costs $5 an hour, or $10.</p>"
    assert markdown.html["money with a slash"] == "<p>It is $5/hour and $10/day.</p>"
    assert markdown.html["escaped money"].startswith("<p>$5 in prose, ")


def test_code_is_not_searched_for_formulas(markdown: Rendered) -> None:
    assert (
        '<code translate="no">$x$</code> and <code translate="no">\\(y\\)</code>'
        in markdown.html["code span"]
    )
    assert "math-" not in markdown.html["code fence"]
    assert '<span class="s2">"$x$"</span>' in markdown.html["code fence"]


def test_heading_ids_leave_formulas_out_and_are_used_once_on_a_page() -> None:
    rendered = render_all(
        {
            "a": Source("markdown", "### The $\\sigma$ layer\n\n### Own {#mine}"),
            "b": Source("markdown", "# The layer\n\n## Part quiz {#part-quiz}\n\n## Figure one"),
        }
    )
    ids = re.findall(r'<h3 id="([^"]+)"', "".join(rendered.html.values()))
    # The page's own anchors stay the page's own, and its title stays the only h1.
    assert ids == ["the-layer", "mine", "the-layer-2", "about-part-quiz", "about-figure-one"]
    assert re.findall(r"<h\d", rendered.html["b"]) == ["<h3", "<h3", "<h3"]


def test_footnotes_of_two_texts_do_not_share_ids() -> None:
    text = "a[^1]\n\n[^1]: b"
    rendered = render_all({"x": Source("markdown", text), "y": Source("markdown", text)})
    ids = re.findall(r' id="([^"]+)"', "".join(rendered.html.values()))
    assert len(ids) == len(set(ids)) == 4


def test_inline_text_is_one_paragraph_without_its_element() -> None:
    rendered = render_all({"a": Source("inline_markdown", "because $x$ is **so**\n")})
    assert rendered.html["a"].startswith('because <span class="math-inline" translate="no">')
    assert rendered.html["a"].endswith("is <strong>so</strong>")


@pytest.mark.parametrize(
    ("text", "line"), [("one\n\ntwo", 3), ("- a\n- b", 1), ("$$x$$", 1), ("<p>a</p><p>b</p>", 1)]
)
def test_inline_text_of_more_than_a_paragraph_is_refused(text: str, line: int) -> None:
    rendered = render_all({"a": Source("inline_markdown", text)})
    (error,) = rendered.errors["a"]
    assert error.line == line
    assert "one paragraph" in error.message


def test_same_sources_give_the_same_bytes() -> None:
    sources = {name: Source("markdown", text) for name, (text, _) in MARKDOWN.items()}
    first, second = render_all(sources), render_all(sources)
    assert first == second
    assert re.fullmatch("[0-9a-f]{16}", first.css_hash)


def test_a_formula_has_the_same_classes_whatever_stands_beside_it() -> None:
    formula = Source("tex_inline", r"\frac{a}{b}")
    alone = render_all({"a": formula})
    beside = render_all({"z": Source("tex_display", TEX["rotation"]), "a": formula})
    assert alone.html["a"] == beside.html["a"]
    assert set(alone.css.splitlines()) <= set(beside.css.splitlines())


def test_every_class_of_a_style_has_its_rule() -> None:
    rendered = render_all({name: Source("tex_display", text) for name, text in TEX.items()})
    used = set(re.findall(r"\bm-[0-9a-f]{8}\b", "".join(rendered.html.values())))
    assert used == set(re.findall(r"^\.(m-[0-9a-f]{8})\{", rendered.css, re.M))
    assert used


def test_windows_line_ends_give_the_same_page() -> None:
    text = "a $x$\n\n$$\ny\n$$\n\n```python\na\n```"
    unix = render_all({"a": Source("markdown", text)})
    windows = render_all({"a": Source("markdown", text.replace("\n", "\r\n"))})
    assert unix == windows


def test_nothing_to_render_is_fine() -> None:
    rendered = render_all({"a": Source("markdown", ""), "b": Source("inline_markdown", "")})
    assert rendered.html == {"a": "", "b": ""}
    assert rendered.errors == {}
    assert render_all({}).html == {}


def test_a_short_formula_is_kept_with_its_punctuation_and_a_long_one_may_break() -> None:
    long = " + ".join(f"x_{{{n}}}" for n in range(20))
    text = f"See ($x$), ${long}$, and $y$ alone. Take $x=(1,2,3,4)$."
    html = render_all({"a": Source("markdown", text)}).html["a"]
    assert html.count('<span class="math-kept">(<span class="math-inline" ') == 1
    assert html.count('class="math-kept"') == 2
    assert "</span>),</span>" in html
