"""Numeric questions.

`answers` holds `answer` and `tolerance` (texts) and `hints: [{"value": str, "feedback_html":
str}]`; an answer is the text that was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.http import QueryDict

from .base import AnswerError, Answers, AsWritten, Feedback, Given, Result
from .number_characters import is_nothing
from .numbers import MAX_NUMBER_CHARACTERS, NumberError, read_number, within_tolerance


class Numeric(AsWritten):
    """A number within the question's tolerance."""

    nothing: Given = ""

    def read(self, answers: Answers, data: QueryDict) -> Given:
        text = data.get("value", "").strip()
        if is_nothing(text):
            raise AnswerError("Type a number first, then check it.")
        try:
            read_number(text)
        except NumberError as error:
            raise AnswerError(str(error)) from error
        return text[:MAX_NUMBER_CHARACTERS]

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        return data.get("value", "")[:MAX_NUMBER_CHARACTERS]

    def check(self, answers: Answers, given: Given) -> Result:
        value, answer, tolerance = (
            _stored(text) for text in (str(given), answers["answer"], answers["tolerance"])
        )
        if within_tolerance(value, answer, tolerance):
            return Result(True, [], "That is right.")
        read_as = f"Read as {_decimal(value)}. " if not _is_plain(str(given)) else ""
        for hint in answers["hints"]:
            if within_tolerance(value, _stored(hint["value"]), tolerance):
                feedback = [Feedback("", False, hint["feedback_html"])]
                return Result(False, feedback, f"{read_as}That is not right. Read what went wrong.")
        message = f"{read_as}That is not within the tolerance. Check your steps, and try again."
        return Result(False, [], message)

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return [str(read_number(question[name])) for name in ("answer", "tolerance")]


def _stored(text: str) -> Fraction:
    """Parse an answer accepted earlier, by the rules of then: a comma is a decimal comma."""
    return read_number(text, refuse_ambiguous=False)


def _is_plain(text: str) -> bool:
    return set(text) <= set("0123456789.-")


def _decimal(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.10g}"
