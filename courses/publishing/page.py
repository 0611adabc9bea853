"""The page of a revision as JSON, for templates and the API; it gives no answers away."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from courses.content.schema import (
    ChapterContent,
    FormulaContent,
    ListingContent,
)
from courses.rendering import render_code, without_marks

from .figures import figures_page
from .questions import question_page

Html = Mapping[str, str]
# The label that the renderer gives the box of a formula; here it gets its number.
PLAIN_LABEL = 'aria-label="Formula"'
# The titles of the parts, in the page's order.
PART_TITLES = {
    "intuition": "Core Intuition & Concepts",
    "formulas": "Mathematical Formulations & Derivations",
    "derivation": "The Derivation, Step by Step",
    "mechanism": "Step-by-Step Computational Mechanism",
    "code": "Code from Scratch",
    "quiz": "Comprehension Checkpoint",
    "summary": "Summary",
    "references": "References",
}


def page_of(content: ChapterContent, rendered: Html) -> dict[str, Any]:
    """Return the page of a chapter, from its texts rendered by the names of `sources_of`."""
    return {
        "title": content.title,
        "titles": PART_TITLES,
        "summary_html": rendered["summary"],
        "minutes": content.minutes,
        "prerequisites_html": rendered["prerequisites"],
        "intuition_html": rendered["intuition"],
        "formulas_intro_html": rendered["formulas_intro"],
        "formulas": [
            _formula(number, formula, rendered)
            for number, formula in enumerate(content.formulas, start=1)
        ],
        "derivation_intro_html": rendered["derivation_intro"],
        "steps": [
            {
                "key": step.key,
                "number": number,
                "title": step.title,
                "html": rendered[f"steps/{step.key}/tex"],
                "tex": without_marks(step.tex.strip("\n")),
                "reason_html": rendered[f"steps/{step.key}/reason"],
                "formula": step.formula,
                "line": step.line,
            }
            for number, step in enumerate(content.steps, start=1)
        ],
        "mechanism_intro_html": rendered["mechanism_intro"],
        "mechanism": [
            {
                "key": part.key,
                "number": number,
                "title": part.title,
                "html": rendered[f"mechanism/{part.key}/body"],
            }
            for number, part in enumerate(content.mechanism, start=1)
        ],
        "code_intro_html": rendered["code_intro"],
        "listings": [_listing(listing, content) for listing in content.listings],
        "figures": figures_page(content, rendered),
        "questions": [
            question_page(number, question, rendered)
            for number, question in enumerate(content.questions, start=1)
        ],
        "summary_text_html": rendered["summary_text"],
        "references_html": rendered["references"],
        "headings": _headings(content),
    }


def _formula(number: int, formula: FormulaContent, rendered: Html) -> dict[str, Any]:
    path = f"formulas/{formula.key}"
    markup = rendered[f"{path}/tex"].replace(PLAIN_LABEL, f'aria-label="Formula {number}"', 1)
    if formula.spoken:
        # On the formula itself, not on its box: screen readers would read both.
        label = f'aria-label="{html.escape(formula.spoken.strip())}"'
        markup = markup.replace("<math ", f"<math {label} ", 1)
    return {
        "key": formula.key,
        "number": number,
        "title": formula.title,
        "html": markup,
        "tex": without_marks(formula.tex.strip("\n")),
        "numpy": formula.numpy.strip("\n"),
        "spoken": formula.spoken,
        "note_html": rendered[f"{path}/note"],
        "symbols": [
            {
                "html": rendered[f"{path}/symbols/{place}/tex"],
                "tex": symbol.tex,
                "name": symbol.name,
                "shape": symbol.shape,
            }
            for place, symbol in enumerate(formula.symbols, start=1)
        ],
    }


def _listing(listing: ListingContent, content: ChapterContent) -> dict[str, Any]:
    line_ids = {line.line: line.key for line in listing.lines}
    steps = {
        number: [(step.key, n) for n, step in enumerate(content.steps, start=1) if step.line == key]
        for number, key in line_ids.items()
    }
    return {
        "filename": listing.filename,
        "language": listing.language,
        "title": listing.title,
        "html": render_code(
            listing.code, listing.language, line_ids, filename=listing.filename, steps=steps
        ),
        "code": listing.code,
        "output": listing.output,
    }


def parts_of(content: ChapterContent) -> set[str]:
    """Return the parts of the page, by their keys in `PART_TITLES`."""
    present = {
        "intuition": content.intuition,
        "formulas": content.formulas,
        "derivation": content.steps,
        "mechanism": content.mechanism,
        "code": content.listings,
        "quiz": content.questions,
        "summary": content.summary_text,
        "references": content.references,
    }
    return {part for part, filling in present.items() if filling}


def _headings(content: ChapterContent) -> list[dict[str, str]]:
    """Return the headings of the page's parts, in order; panels bring their own."""
    present = parts_of(content)
    return [
        {"id": f"part-{part}", "title": title}
        for part, title in PART_TITLES.items()
        if part in present
    ]
