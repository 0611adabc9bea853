"""The quiz for one learner: each question with its state, feedback and message."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from courses.models import ChapterRevision, QuizAttempt

from .kinds import Feedback, Given, arrange, check, nothing

CHANGED_MESSAGE = (
    "The author has changed what counts as right here since you answered. Please answer again."
)


class ItemState(StrEnum):
    OPEN = "open"
    WRONG = "wrong"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Problem:
    """An answer that could not be read: the question, the input, and what to do."""

    question_key: str
    given: Given
    message: str


@dataclass(frozen=True, slots=True)
class Item:
    """One question. `question` is its entry in the page, with its parts in this learner's order."""

    question: dict[str, Any]
    state: ItemState
    attempts: int
    answer: Given
    feedback: list[Feedback]
    message: str
    explanation_html: str


@dataclass(frozen=True, slots=True)
class Quiz:
    total: int
    done: int
    questions: list[Item]

    def item(self, question_key: str) -> Item:
        """Return one question's item; `KeyError` if the quiz has no such question."""
        for item in self.questions:
            if item.question["key"] == question_key:
                return item
        raise KeyError(question_key)


def quiz_of(
    revision: ChapterRevision,
    attempts: Iterable[QuizAttempt],
    order_seed: str = "",
    problem: Problem | None = None,
) -> Quiz:
    """Return the quiz of a revision after these attempts (of one learner, by rising number).

    `order_seed` decides the order of choices and steps: the same learner always sees the same.
    """
    by_key: dict[str, list[QuizAttempt]] = defaultdict(list)
    for attempt in attempts:
        by_key[attempt.question_key].append(attempt)
    items = [
        _item(revision, question, by_key[question["key"]], order_seed, problem)
        for question in revision.page["questions"]
    ]
    done = sum(item.state is ItemState.RIGHT for item in items)
    return Quiz(total=len(items), done=done, questions=items)


def _item(
    revision: ChapterRevision,
    question: dict[str, Any],
    attempts: list[QuizAttempt],
    order_seed: str,
    problem: Problem | None,
) -> Item:
    key = question["key"]
    answers = revision.answers[key]
    version = revision.question_versions[key]
    current = [attempt for attempt in attempts if attempt.question_version == version]
    state, answer, feedback, message = ItemState.OPEN, nothing(answers), [], ""
    if current:
        attempt = next((one for one in current if one.correct), current[-1])
        result = check(answers, attempt.answer)
        state = ItemState.RIGHT if attempt.correct else ItemState.WRONG
        answer, feedback, message = attempt.answer, result.feedback, result.message
    elif any(attempt.correct for attempt in attempts):
        message = CHANGED_MESSAGE
    if problem is not None and problem.question_key == key and state is not ItemState.RIGHT:
        answer, feedback, message = problem.given, [], problem.message
    shown = arrange(question, answers, answer, f"{order_seed}/{key}")
    explanation = answers["explanation_html"] if state is ItemState.RIGHT else ""
    return Item(shown, state, len(current), answer, feedback, message, explanation)
