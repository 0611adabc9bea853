"""The texts of a chapter to render, by the path of their field (see `ContentError`)."""

from __future__ import annotations

from collections.abc import Iterator

from courses.content.schema import PART_TEXTS, ChapterContent, FormulaContent
from courses.rendering import Source

from .figures import figure_sources
from .questions import question_sources

CHAPTER_TEXTS = ("summary", *PART_TEXTS)


def sources_of(content: ChapterContent) -> dict[str, Source]:
    """Return all texts and formulas of the chapter, in the order of the page."""
    return dict(_sources(content))


def _sources(content: ChapterContent) -> Iterator[tuple[str, Source]]:
    for name in CHAPTER_TEXTS:
        yield name, _markdown(getattr(content, name))
    for formula in content.formulas:
        yield from _formula(formula)
    for step in content.steps:
        yield f"steps/{step.key}/tex", _display(step.tex)
        yield f"steps/{step.key}/reason", _markdown(step.reason)
    for part in content.mechanism:
        yield f"mechanism/{part.key}/body", _markdown(part.body)
    for figure in content.figures:
        yield from figure_sources(figure)
    for question in content.questions:
        yield from question_sources(question)


def _formula(formula: FormulaContent) -> Iterator[tuple[str, Source]]:
    path = f"formulas/{formula.key}"
    yield f"{path}/tex", _display(formula.tex)
    yield f"{path}/note", _markdown(formula.note)
    for place, symbol in enumerate(formula.symbols, start=1):
        yield f"{path}/symbols/{place}/tex", Source("tex_inline", symbol.tex)


def _display(tex: str) -> Source:
    # Without the last line feed: what ends too early is then shown at the end of its line.
    return Source("tex_display", tex.rstrip("\n"))


def _markdown(text: str) -> Source:
    return Source("markdown", text)
