"""The kinds of questions: one small class each, found by name. A new kind is one more class here.

`answers` is what a revision keeps for the server about one question: `kind`, `explanation_html`,
for choices `choices: {key: {"correct": bool, "feedback_html": str}}`, for numbers `answer`,
`tolerance` (texts) and `hints: [{"value": str, "feedback_html": str}]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from django.http import QueryDict

from .numbers import MAX_NUMBER_CHARACTERS, NumberError, read_number, within_tolerance

Answers: TypeAlias = Mapping[str, Any]
Given: TypeAlias = list[str] | str


class AnswerError(ValueError):
    """What was sent is no answer to this question; the message tells the learner what to do."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on one choice (`choice` is its key) or on a number (`choice` is empty)."""

    choice: str
    correct: bool
    html: str


@dataclass(frozen=True, slots=True)
class Result:
    """Whether an answer is right, what is said about its parts, and about the whole."""

    correct: bool
    feedback: list[Feedback]
    message: str


class Kind(Protocol):
    def read(self, answers: Answers, data: QueryDict) -> Given:
        """Return the answer in its stored form; `AnswerError` if there is none in `data`."""

    def check(self, answers: Answers, given: Given) -> Result:
        """Judge an answer that `read` returned."""

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        """Return what of a question's content decides whether an answer is right."""


class _Choices:
    """What questions with choices share."""

    def read(self, answers: Answers, data: QueryDict) -> Given:
        chosen = sorted(set(data.getlist("choice")))
        if not chosen:
            raise AnswerError(self.nothing_chosen)
        if not set(chosen) <= set(answers["choices"]):
            raise AnswerError(
                "That choice does not belong to this question. Choose among the answers shown; "
                "if the page is old, load it again first."
            )
        return list(chosen)

    nothing_chosen = "Choose an answer first, then check it."

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return sorted((choice["key"], choice["correct"]) for choice in question["choices"])

    def _feedback(self, answers: Answers, given: Given, correct: bool) -> list[Feedback]:
        """Feedback on what was chosen; once all is right, on every choice."""
        return [
            Feedback(key, choice["correct"], choice["feedback_html"])
            for key, choice in answers["choices"].items()
            if correct or key in given
        ]


class Single(_Choices):
    """One right choice."""

    def read(self, answers: Answers, data: QueryDict) -> Given:
        chosen = super().read(answers, data)
        if len(chosen) > 1:
            raise AnswerError("This question has one right answer. Choose one.")
        return chosen

    def check(self, answers: Answers, given: Given) -> Result:
        correct = all(answers["choices"].get(key, {}).get("correct", False) for key in given)
        message = "That is right." if correct else "That is not right. Read why, and try again."
        return Result(correct, self._feedback(answers, given, correct), message)


class Multiple(_Choices):
    """Several right choices: all of them and no other."""

    nothing_chosen = "Choose every answer that is right, at least one, then check."

    def check(self, answers: Answers, given: Given) -> Result:
        right = {key for key, choice in answers["choices"].items() if choice["correct"]}
        chosen = set(given)
        if chosen == right:
            message = "That is right: these and no others."
        elif chosen < right:
            message = "What you chose is right, but more of the answers are. Try again."
        elif chosen > right:
            message = (
                "Every right answer is among those you chose, but not all you chose are right."
            )
        else:
            message = "Not all you chose are right, and a right answer is missing. Try again."
        correct = chosen == right
        return Result(correct, self._feedback(answers, given, correct), message)


class Numeric:
    """A number within the tolerance that the question shows."""

    def read(self, answers: Answers, data: QueryDict) -> Given:
        text = data.get("value", "").strip()
        if not text:
            raise AnswerError("Type a number first, then check it.")
        try:
            read_number(text)
        except NumberError as error:
            raise AnswerError(str(error)) from error
        return text[:MAX_NUMBER_CHARACTERS]

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
    """Read what was accepted earlier, as it was read then: a comma is a decimal comma."""
    return read_number(text, refuse_ambiguous=False)


def _is_plain(text: str) -> bool:
    return set(text) <= set("0123456789.-")


def _decimal(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.10g}"


KINDS: dict[str, Kind] = {"single": Single(), "multiple": Multiple(), "numeric": Numeric()}


def check(answers: Answers, given: Given) -> Result:
    """Judge a stored answer against one question's `answers`."""
    return KINDS[answers["kind"]].check(answers, given)


def read(answers: Answers, data: QueryDict) -> Given:
    """Return the answer in posted form data; `AnswerError` if there is none."""
    return KINDS[answers["kind"]].read(answers, data)
