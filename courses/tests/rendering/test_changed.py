r"""`\changed{...}`: marked for the eye, invisible to everything that reads TeX."""

from __future__ import annotations

import pytest

from courses.rendering import Source, render_all, without_marks


def test_the_marked_term_gets_the_class_and_the_source_is_plain_tex() -> None:
    html = render_all({"a": Source("tex_display", r"a < b \changed{+ \gamma_i}")}).html["a"]
    assert html.count('class="enclosing changed"') == 1
    assert r"a &lt; b + \gamma_i</annotation>" in html
    assert "changed{" not in html


def test_marks_work_in_fractions_and_subscripts_and_in_texts() -> None:
    tex = r"\frac{\changed{a}}{b} + x_{\changed{ij}}"
    rendered = render_all({"a": Source("tex_display", tex), "b": Source("markdown", f"So ${tex}$")})
    assert rendered.errors == {}
    assert [html.count("enclosing changed") for html in rendered.html.values()] == [2, 2]


def test_a_mark_without_braces_in_a_subscript_is_explained_in_the_authors_words() -> None:
    (error,) = render_all({"a": Source("tex_display", r"x_\changed{i}")}).errors["a"]
    assert r"x_{\changed{i}}" in error.message
    assert "html" not in error.message


@pytest.mark.parametrize("tex", [r"\htmlClass{changed}{x}", r"\htmlId{changed}{x}"])
def test_the_raw_command_behind_it_stays_refused(tex: str) -> None:
    (error,) = render_all({"a": Source("tex_display", tex)}).errors["a"]
    assert "not allowed" in error.message


def test_an_author_cannot_bend_the_mark_to_another_class() -> None:
    r"""A macro may be defined anew, but the engine trusts one class."""
    source = Source("tex_display", r"\def\other{skip}\csname htmlClass\endcsname{skip}{x}")
    assert render_all({"a": source}).errors["a"]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (r"a + \changed{b}", "a + b"),
        (r"x_{\changed {ij}}", "x_{ij}"),
        (r"\changed{\frac{a}{\changed{b}}}", r"\frac{a}{b}"),
        (r"\changed{\{ a \}} + c", r"\{ a \} + c"),
        (r"\changedx + \changes{y}", r"\changedx + \changes{y}"),
        ("no marks", "no marks"),
        (r"\changed{never closed", "{never closed"),
    ],
)
def test_without_marks(marked: str, plain: str) -> None:
    assert without_marks(marked) == plain
