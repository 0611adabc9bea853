"""What the tests remember of formulas is what KaTeX said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from courses.rendering import Source, render_all, tex
from courses.rendering.tex import Formula
from tests.formulas import Remembered

SOURCES = {
    "right": Source("tex_inline", r"\sqrt{x^2 + \epsilon}"),
    "wrong": Source("tex_display", r"\frac{1}{"),
    "text": Source("markdown", r"The mean $\bar x$ and again $\bar x$."),
}


def test_a_page_is_the_same_from_memory_and_from_katex(formulas: Remembered) -> None:
    assert tex._ask_child is formulas
    remembered = [render_all(SOURCES) for _ in range(2)]
    tex._ask_child, kept = formulas.ask, tex._ask_child
    try:
        fresh = render_all(SOURCES)
    finally:
        tex._ask_child = kept
    assert remembered == [fresh, fresh]
    assert set(fresh.errors) == {"wrong"}


def test_only_new_formulas_are_asked_for_and_failures_again() -> None:
    asked: list[list[Any]] = []

    def ask(formulas: Sequence[Formula]) -> list[dict[str, Any]]:
        asked.append([formula.tex for formula in formulas])
        return [{"error": "no"} if item.tex == "bad" else {"html": item.tex} for item in formulas]

    remembered = Remembered(ask)
    a, b, bad = (Formula(text, display=False) for text in ("a", "b", "bad"))
    assert remembered([a, bad]) == [{"html": "a"}, {"error": "no"}]
    assert remembered([b, a, bad]) == [{"html": "b"}, {"html": "a"}, {"error": "no"}]
    # Drawn large it is another one.
    remembered([Formula("a", display=True)])
    assert asked == [["a", "bad"], ["b", "bad"], ["a"]]
