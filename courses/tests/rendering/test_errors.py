from __future__ import annotations

import pytest

from courses.rendering import Source, SourceError, render_all


def errors(kind: str, text: str) -> list[SourceError]:
    rendered = render_all({"field": Source(kind, text)})  # type: ignore[arg-type]
    assert "field" in rendered.html
    return rendered.errors.get("field", [])


@pytest.mark.parametrize(
    ("tex", "line", "column", "words"),
    [
        (r"\frac{1}{", 1, 10, "ends inside an argument"),
        ("x_1_2", 1, 4, "two subscripts"),
        ("x^1^2", 1, 4, "two superscripts"),
        (r"a \foo b", 1, 3, r"\foo is not a known TeX command"),
        ("a & b", 1, 3, r"\&"),
        ("a}", 1, 2, "closes nothing"),
        (r"\left( x", 1, 9, r"\left has no \right"),
        (r"\begin{aligned} a", 1, 18, r"\end{...}"),
        (r"\begin{foo}x\end{foo}", 1, 7, "no environment named foo"),
        ("a\nb\n  c ^", 3, 5, "must follow ^"),
        (r"\sqrt", 1, 6, "needs an argument"),
        (r"50% x", 1, 3, r"Write \%"),
        ("7\\% ok\n50% x\n", 2, 3, r"Write \%"),
        (r"\text{a ☃ b}", 1, 9, "'☃' is not known"),
        ("𝔸 \\foo", 1, 3, r"\foo is not a known"),
        ("\n\n  \\textcolor{red;position:fixed}{x}", 3, 13, "Invalid color"),
        ("", 1, 1, "empty"),
        (r"\def\a{\a\a}\a", 1, 1, "without end"),
    ],
)
def test_tex_errors_say_where_they_are(tex: str, line: int, column: int, words: str) -> None:
    (error,) = errors("tex_display", tex)
    assert (error.line, error.column) == (line, column)
    assert words in error.message
    assert error.message.endswith(".")


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        (r"Let $x_1$ and $\foo$ be.", 1, 16),
        ("First.\n\nSecond $a + \\foo$ here.", 3, 13),
        ("Text\n\n$$\na \\\\\n  \\foo\n$$\n", 5, 3),
        ("- item\n\n    $$\n    a\n    \\foo\n    $$", 5, 5),
        ("> quote\n>\n> $$\n> a\n> \\foo\n> $$", 5, 3),
        ("| a | b |\n|---|---|\n| x | $\\foo$ |", 3, 8),
        ("`$\\foo$` and $\\foo$", 1, 15),
        ("```\n$\\foo$\n```\n\nso $\\foo$", 5, 5),
        ("### Head $\\foo$", 1, 11),
        ("See[^1].\n\n[^1]: foot $\\foo$", 3, 13),
        ("one $a\n  + \\foo$ two", 2, 5),
        ("\\(\\foo\\)", 1, 3),
        ("\\[\n\\foo\n\\]", 2, 1),
        ("\\begin{aligned}\na & \\foo\n\\end{aligned}", 2, 5),
        ("tabs $a\t\t\\foo$", 1, 10),
    ],
)
def test_errors_in_markdown_are_placed_in_the_markdown(text: str, line: int, column: int) -> None:
    (error,) = errors("markdown", text)
    assert (error.line, error.column) == (line, column)
    assert "\\foo" in error.message


def test_the_same_mistake_twice_is_shown_at_both_places() -> None:
    found = errors("markdown", "a $\\foo$\n\nb $\\foo$ and $\\bar{x}$ and $\\foo$")
    assert [(error.line, error.column) for error in found] == [(1, 4), (3, 4), (3, 29)]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("| a |\n|---|\n| $|x|$ |", 3, 3, "\\vert"),
        ("| a | b |\n|---|---|\n| one | $5 + |x| |", 3, 9, "table cell"),
        ("a\n\nis $x + y of it", 3, 4, "Close the formula"),
        ("costs $5 and\n\nso $\\alpha is", 3, 4, "Close the formula"),
        ("set `$HOME` and $HOME", 1, 17, "write \\$"),
        ("so $$x$$ there", 1, 4, "lines of its own"),
        ("$$\na\n\nb\n$$", 1, 1, "empty line"),
        ("so \\[ \\frac{a}{b} \\] there", 1, 4, "\\[ ... \\]"),
        ("<div>\n$x$\n</div>", 2, 1, "raw HTML"),
        ("if `<n>` or a <n and n> b", 1, 15, "&lt;"),
        ("a\n\n<script>alert(1)</script>", 3, 1, "<script>"),
        ("![p](https://example.org/p.png)", 1, 6, "on this site"),
        ("go [x](javascript:alert(1))", 1, 8, "https"),
        ("a\n\nb\x07c", 3, 2, "control character"),
        ("a\ud800", 1, 2, "control character"),
    ],
)
def test_silent_mistakes_of_markdown_are_errors(
    text: str, line: int, column: int, words: str
) -> None:
    found = errors("markdown", text)
    assert found
    assert (found[0].line, found[0].column) == (line, column)
    assert words in found[0].message


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 an hour, or $10.",
        "From $3 to $4 and $x$.",
        r"\$x and \[not a link\] and \(aside\)",
        "| a |\n|---|\n| \\$5 |",
        "1 < 2 and 3 > 2, x <= y, <https://example.org/>, <!-- a note -->",
        "```html\n<script>$x</script>\n```",
        '```{.python .wide}\nprint("$x$")\n```',
        "[mail](mailto:a@example.org) [up](../) [here](#part-quiz)",
    ],
)
def test_plain_text_is_not_taken_for_a_mistake(text: str) -> None:
    assert errors("markdown", text) == []


def test_excerpt_shows_the_line_and_a_caret_under_the_place() -> None:
    (error,) = errors("tex_display", "a\nb \\foo c")
    assert error.excerpt == "b \\foo c\n  ^"


def test_excerpt_of_a_long_line_keeps_the_caret_under_the_place() -> None:
    (error,) = errors("tex_display", "x + " * 60 + "\\foo" + " + y" * 60)
    line, caret = error.excerpt.splitlines()
    assert len(line) < 80
    assert line[caret.index("^") :].startswith("\\foo")
    assert error.column == 241


def test_a_broken_formula_is_shown_as_its_source_and_the_rest_is_rendered() -> None:
    rendered = render_all({"a": Source("markdown", "ok $x$, broken $\\foo{<b>}$, ok $y$")})
    assert rendered.html["a"].count('class="math-inline"') == 2
    assert '<code class="math-error" translate="no">\\foo{&lt;b&gt;}</code>' in rendered.html["a"]


def test_errors_are_kept_by_source_and_leave_the_others_alone() -> None:
    rendered = render_all(
        {
            "good": Source("tex_display", "x"),
            "bad": Source("tex_inline", "x_1_2"),
            "text": Source("inline_markdown", "a $\\foo$ b"),
        }
    )
    assert set(rendered.errors) == {"bad", "text"}
    assert set(rendered.html) == {"good", "bad", "text"}
    assert "katex" in rendered.html["good"]
