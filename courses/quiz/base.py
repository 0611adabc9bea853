"""The interface of a kind of question: reading, judging and showing an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from django.http import QueryDict

Answers: TypeAlias = Mapping[str, Any]
Given: TypeAlias = list[str] | str
Shown: TypeAlias = dict[str, Any]

AnyPart = TypeVar("AnyPart")

TOKEN_CHARACTERS = 12


class AnswerError(ValueError):
    """The input is no answer to this question; the message tells the learner what to do."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback on one part of an answer: a choice's key, an item's token, or empty for a text."""

    choice: str
    correct: bool
    html: str


@dataclass(frozen=True, slots=True)
class Result:
    """The judgement of an answer: whether it is right, feedback on its parts, and a message."""

    correct: bool
    feedback: list[Feedback]
    message: str


class QuestionKind(Protocol):
    """One kind of question. `answers` is the private part of a revision for the question."""

    nothing: Given

    def read(self, answers: Answers, data: QueryDict) -> Given:
        """Return the answer in its stored form; `AnswerError` if `data` holds none."""

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        """Return the part of the input that can be shown again, though it is no answer."""

    def check(self, answers: Answers, given: Given) -> Result:
        """Judge an answer that `read` returned."""

    def arrange(self, question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
        """Return the page's entry as this learner sees it: in the seed's order, with `given`."""

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        """Return the content that decides whether an answer is right."""


class AsWritten:
    """For kinds that look the same to every learner."""

    def arrange(self, question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
        return question


def token(*path: str) -> str:
    """Return the page's name for a part whose own key would give the answer away.

    It is stable while the key is, so that an old page can still be sent.
    """
    return hashlib.sha256("/".join(path).encode()).hexdigest()[:TOKEN_CHARACTERS]


def shuffled(parts: Sequence[AnyPart], names: Sequence[str], seed: str) -> list[AnyPart]:
    """Return the parts in an order that depends only on their names and the seed."""
    drawn = [hashlib.sha256(f"{seed}/{name}".encode()).digest() for name in names]
    return [parts[place] for place in sorted(range(len(parts)), key=drawn.__getitem__)]


def never(order: list[AnyPart], answer: Sequence[AnyPart]) -> list[AnyPart]:
    """Return the order, rotated by one where it happens to be the answer."""
    return [*order[1:], order[0]] if order and order == list(answer) else order
