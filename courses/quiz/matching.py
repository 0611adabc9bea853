"""Matching questions.

`answers["pairs"]` is `{"key", "left", "right", "feedback_html", "hint_html"}` with the tokens of
both sides, `left` empty for a distractor. An answer is the sorted list of `left key:right key`.

A form sends `match-<left token>=<right token>`; API clients send `choice` once for each pair, as
`left token:right token`.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from django.http import QueryDict

from .base import AnswerError, Answers, Feedback, Given, Result, Shown, never, shuffled

OLD_PAGE = "These are not the pairs of this question. Load the page again, then match them."


class Matching:
    """Pairs every left side with its right side; each right side is used once at most."""

    nothing: Given = []

    def read(self, answers: Answers, data: QueryDict) -> Given:
        chosen = _chosen(answers, data)
        lefts = {pair["left"]: pair["key"] for pair in answers["pairs"] if pair["left"]}
        rights = {pair["right"]: pair["key"] for pair in answers["pairs"]}
        if not set(chosen) <= set(lefts) or not set(chosen.values()) <= {*rights, ""}:
            raise AnswerError(OLD_PAGE)
        if len(chosen) < len(lefts) or "" in chosen.values():
            raise AnswerError("Choose a partner for every line, then check the pairs.")
        if len(set(chosen.values())) < len(chosen):
            raise AnswerError("One letter is chosen twice. Each belongs to one line at most.")
        return sorted(f"{lefts[left]}:{rights[right]}" for left, right in chosen.items())

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        lefts = {pair["left"]: pair["key"] for pair in answers["pairs"] if pair["left"]}
        rights = {pair["right"]: pair["key"] for pair in answers["pairs"]}
        return sorted(
            f"{lefts[left]}:{rights[right]}"
            for left, right in _chosen(answers, data).items()
            if left in lefts and right in rights
        )

    def check(self, answers: Answers, given: Given) -> Result:
        partners = dict(pair.split(":", 1) for pair in given)
        feedback = []
        for pair in answers["pairs"]:
            if pair["left"]:
                fits = partners.get(pair["key"]) == pair["key"]
                html = pair["feedback_html"] if fits else pair["hint_html"]
                feedback.append(Feedback(pair["left"], fits, html))
        good = sum(one.correct for one in feedback)
        correct = good == len(feedback)
        message = (
            "That is right: every pair."
            if correct
            else f"Not yet: {good} of {len(feedback)} pairs are right. Change the others."
            if good
            else "Not yet: no pair is right."
        )
        return Result(correct, feedback, message)

    def arrange(self, question: Shown, answers: Answers, given: Given, seed: str) -> Shown:
        """The left sides as written; the right sides in the seed's order, with letters."""
        right_of = {pair["key"]: pair["right"] for pair in answers["pairs"]}
        left_of = {pair["left"]: pair["key"] for pair in answers["pairs"] if pair["left"]}
        partners = dict(pair.split(":", 1) for pair in given)
        html = {right["key"]: right["html"] for right in question["rights"]}
        order = never(shuffled(list(html), list(html), seed), list(right_of.values()))
        rights = [
            {"key": name, "html": html[name], "letter": letter}
            for name, letter in zip(order, ascii_uppercase, strict=False)
        ]
        lefts = [
            left | {"chosen": right_of.get(partners.get(left_of[left["key"]], ""), "")}
            for left in question["lefts"]
        ]
        return question | {"lefts": lefts, "rights": rights}

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return sorted((pair["key"], bool(pair["left"])) for pair in question["pairs"])


def _chosen(answers: Answers, data: QueryDict) -> dict[str, str]:
    """Return the input as {left token: right token}, empty where nothing was chosen."""
    listed = data.getlist("choice")
    if listed:
        pairs = (text.partition(":") for text in listed)
        return {left: right for left, _, right in pairs}
    lefts = [pair["left"] for pair in answers["pairs"] if pair["left"]]
    return {left: data.get(f"match-{left}", "") for left in lefts}
