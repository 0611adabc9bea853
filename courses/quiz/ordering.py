"""Ordering questions, such as the steps of a derivation.

`answers["items"]` is, in the right order, `{"key", "token", "feedback_html", "hint_html"}`; an
answer is the list of all keys in the order given. The page knows items by their tokens.

A form sends `place-<token>=<number>` for each item, so that it works without a script; API clients
send `choice` once for each token, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict

from .base import AnswerError, Answers, Feedback, Given, Result, Shown, never, shuffled

OLD_PAGE = "These are not the steps of this question. Load the page again, then order them."


class Ordering:
    """All items, each in its right place."""

    nothing: Given = []

    def read(self, answers: Answers, data: QueryDict) -> Given:
        tokens = {item["token"]: item["key"] for item in answers["items"]}
        order = data.getlist("choice") or self._by_places(tokens, data)
        if sorted(order) != sorted(tokens):
            raise AnswerError(OLD_PAGE)
        return [tokens[name] for name in order]

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        """The order by the numbers given, as far as they define one."""
        keys = {item["token"]: item["key"] for item in answers["items"]}
        places = {name: data.get(f"place-{name}", "") for name in keys}
        last = str(len(keys))
        return [keys[name] for name in sorted(keys, key=lambda name: (places[name] or last, name))]

    def check(self, answers: Answers, given: Given) -> Result:
        items = {item["key"]: item for item in answers["items"]}
        right = list(items)
        feedback = []
        for key, wanted in zip(given, right, strict=False):
            item, fits = items[key], key == wanted
            html = item["feedback_html"] if fits else item["hint_html"]
            feedback.append(Feedback(item["token"], fits, html))
        correct = list(given) == right
        return Result(correct, feedback, "That is right." if correct else _where(given, right))

    def arrange(self, question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
        """The items as the learner left them; before that, in the seed's order."""
        html = {item["key"]: item["html"] for item in question["items"]}
        tokens = {item["key"]: item["token"] for item in answers["items"]}
        order = list(given) or never(shuffled(list(tokens), list(tokens), seed), list(tokens))
        return question | {
            "places": list(range(1, len(order) + 1)),
            "items": [
                {"key": tokens[key], "html": html[tokens[key]], "place": place}
                for place, key in enumerate(order, start=1)
            ],
        }

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return [item["key"] for item in question["items"]]

    def _by_places(self, tokens: Mapping[str, str], data: QueryDict) -> list[str]:
        """Return the tokens in the order of their numbers."""
        by_place: dict[str, str] = {}
        for name in tokens:
            place = data.get(f"place-{name}", "")
            if not place:
                raise AnswerError("Give every step a number, then check the order.")
            if place in by_place:
                raise AnswerError(
                    f"Two steps have the number {place[:4]}. Give each step a number of its own."
                )
            by_place[place] = name
        numbers = [str(number) for number in range(1, len(tokens) + 1)]
        if set(by_place) != set(numbers):
            raise AnswerError(f"Number the steps from 1 to {len(tokens)}, each number once.")
        return [by_place[number] for number in numbers]


def _where(given: Given, right: Sequence[str]) -> str:
    """Say how far the order is right, as a hint for the next try."""
    good = next(
        place for place, (one, other) in enumerate(zip(given, right, strict=True)) if one != other
    )
    if good == 0:
        return "Not yet: another step comes first. Begin with what needs nothing before it."
    until = "The first step stands" if good == 1 else f"The first {good} steps stand"
    return f"Not yet. {until} right; another one comes next, at place {good + 1}."
