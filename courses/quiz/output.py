"""Questions for the output of a short program.

`answers` holds `output` and `hints: [{"value": str, "feedback_html": str}]`; an answer is the text
that was typed, without insignificant white space.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict

from .base import AnswerError, Answers, AsWritten, Feedback, Given, Result

MAX_OUTPUT_CHARACTERS = 2000


class Output(AsWritten):
    """The lines of a program's output, compared character by character."""

    nothing: Given = ""

    def read(self, answers: Answers, data: QueryDict) -> Given:
        text = data.get("value", "")
        if len(text) > MAX_OUTPUT_CHARACTERS:
            raise AnswerError(
                f"That is longer than {MAX_OUTPUT_CHARACTERS} characters. "
                "Type only what the program prints."
            )
        printed = printed_lines(text)
        if not printed:
            raise AnswerError("Type what the program prints first, then check it.")
        return "\n".join(printed)

    def as_sent(self, answers: Answers, data: QueryDict) -> Given:
        return data.get("value", "")[:MAX_OUTPUT_CHARACTERS]

    def check(self, answers: Answers, given: Given) -> Result:
        got, wanted = printed_lines(str(given)), printed_lines(answers["output"])
        if got == wanted:
            return Result(True, [], "That is right.")
        for hint in answers["hints"]:
            if got == printed_lines(hint["value"]):
                feedback = [Feedback("", False, hint["feedback_html"])]
                return Result(False, feedback, "That is not right. Read what went wrong.")
        return Result(False, [], _difference(got, wanted))

    def version_fields(self, question: Mapping[str, Any]) -> Any:
        return printed_lines(question["output"])


def printed_lines(text: str) -> list[str]:
    """Return the lines without trailing spaces, and without empty lines around them all."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " ")
    lines = [line.rstrip() for line in plain.split("\n")]
    filled = [place for place, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _difference(got: list[str], wanted: list[str]) -> str:
    """Say where the first difference is, without the expected text."""
    if ["".join(line.split()) for line in got] == ["".join(line.split()) for line in wanted]:
        return "Nearly: only the spaces differ. Look at where Python puts them, and try again."
    if [line.lower() for line in got] == [line.lower() for line in wanted]:
        return "Nearly: only capital and small letters differ. Try again."
    for place, (one, other) in enumerate(zip(got, wanted, strict=False), start=1):
        if one != other:
            which = "" if len(got) == len(wanted) == 1 else f" Line {place} is another one."
            return f"That is not what it prints.{which} Go through the program, and try again."
    more = "more" if len(wanted) > len(got) else "fewer"
    return f"What you typed agrees, but the program prints {more} lines. Try again."
