"""Multiple-choice questions with one or several right choices.

`answers["choices"]` is `{key: {"correct": bool, "feedback_html": str}}`; an answer is the sorted
list of the chosen keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from .base import AnswerError, Answers, Feedback, Given, Result, Shown, shuffled


class _Choices:
    """What both kinds share."""

    nothing: Given = []
    nothing_chosen = "Choose an answer first, then check it."

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

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        return [key for key in data.getlist("choice") if key in answers["choices"]]

    def arrange(self, question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
        choices = question["choices"]
        keys = [choice["key"] for choice in choices]
        return question | {"choices": shuffled(choices, keys, seed)}

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return sorted((choice["key"], choice["correct"]) for choice in question["choices"])

    def _feedback(self, answers: Answers, given: Given, correct: bool) -> list[Feedback]:
        """Feedback on the chosen options; once all is right, on every option."""
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
