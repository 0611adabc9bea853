"""Texts that would keep the Markdown library busy for minutes are refused with their position."""

from __future__ import annotations

import pytest

from courses.rendering import render_all
from courses.rendering.density import SIGNS_PER_PARAGRAPH, too_dense
from courses.rendering.model import Source


@pytest.mark.parametrize("piece", ["[", "[a](", "![", "<a ", "$a "])
def test_a_paragraph_full_of_signs_that_begin_something_is_refused(piece: str) -> None:
    text = "Fine.\n\nAlso fine.\n\n" + piece * (50_000 // len(piece))
    (error,) = render_all({"text": Source("markdown", text)}).errors["text"]
    assert error.line == 5
    assert "Divide it by empty lines" in error.message


def test_as_many_in_several_paragraphs_or_in_code_are_not() -> None:
    many = "[" * SIGNS_PER_PARAGRAPH
    assert too_dense(f"{many}\n\n{many}\n") is None
    assert too_dense(f"{many}\n{many}\n") is not None
    for fence in ("```", "~~~~"):
        assert too_dense(f"a\n{fence} json\n{many}\n{many}\n{fence}\n{many}") is None
    # A fence of another kind ends none.
    assert too_dense(f"```\n{many}\n~~~\n{many}\n```\n") is None
