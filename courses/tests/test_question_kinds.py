"""Each kind of question reads what was sent, judges it, and says something useful."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from courses.quiz.kinds import AnswerError, check, read

CHOICES = {
    "a": {"correct": True, "feedback_html": "<p>yes a</p>"},
    "b": {"correct": False, "feedback_html": "<p>no b</p>"},
    "c": {"correct": True, "feedback_html": "<p>yes c</p>"},
}
SINGLE: dict[str, Any] = {
    "kind": "single",
    "choices": {"a": CHOICES["a"], "b": CHOICES["b"]},
    "explanation_html": "",
}
MULTIPLE: dict[str, Any] = {"kind": "multiple", "choices": CHOICES, "explanation_html": ""}
NUMERIC: dict[str, Any] = {
    "kind": "numeric",
    "answer": "0.125",
    "tolerance": "0.001",
    "hints": [{"value": "8", "feedback_html": "<p>upside down</p>"}],
    "explanation_html": "",
}


def test_single_right_shows_feedback_on_every_choice() -> None:
    result = check(SINGLE, ["a"])
    assert result.correct
    assert [(one.choice, one.correct) for one in result.feedback] == [("a", True), ("b", False)]


def test_single_wrong_shows_feedback_on_what_was_chosen_alone() -> None:
    result = check(SINGLE, ["b"])
    assert not result.correct
    assert [(one.choice, one.html) for one in result.feedback] == [("b", "<p>no b</p>")]
    assert "try again" in result.message


def test_multiple_needs_exactly_the_right_choices() -> None:
    assert check(MULTIPLE, ["a", "c"]).correct
    assert not check(MULTIPLE, ["a"]).correct
    assert not check(MULTIPLE, ["a", "b", "c"]).correct
    assert not check(MULTIPLE, ["a", "b"]).correct


def test_multiple_says_what_kind_of_wrong_it_is() -> None:
    messages = {check(MULTIPLE, given).message for given in (["a"], ["a", "b", "c"], ["b"])}
    assert len(messages) == 3
    assert "more of the answers are" in check(MULTIPLE, ["a"]).message


def test_multiple_is_stored_without_order_or_repetition() -> None:
    assert read(MULTIPLE, QueryDict("choice=c&choice=a&choice=c")) == ["a", "c"]


@pytest.mark.parametrize("value", ["0.125", "1/8", "2**-3", "0,125", "0.1259"])
def test_numeric_right_within_tolerance(value: str) -> None:
    assert check(NUMERIC, value).correct


def test_numeric_wrong_value_with_a_hint_gets_the_hint() -> None:
    result = check(NUMERIC, "8")
    assert not result.correct
    assert result.feedback[0].html == "<p>upside down</p>"


def test_numeric_says_how_an_expression_was_read() -> None:
    assert check(NUMERIC, "1,000").message.startswith("Read as 1. ")
    assert "Read as" not in check(NUMERIC, "0.5").message
    assert check(NUMERIC, "10**400").message.startswith("Read as 1.000000000e+400. ")


@pytest.mark.parametrize(
    ("answers", "data", "said"),
    [
        (SINGLE, "", "Choose an answer first"),
        (SINGLE, "value=3", "Choose an answer first"),
        (SINGLE, "choice=z", "does not belong to this question"),
        (SINGLE, "choice=a&choice=b", "one right answer"),
        (MULTIPLE, "", "at least one"),
        (MULTIPLE, "choice=a&choice=z", "does not belong to this question"),
        (NUMERIC, "", "Type a number first"),
        (NUMERIC, "value=+++", "Type a number first"),
        (NUMERIC, "choice=a", "Type a number first"),
        (NUMERIC, "value=about+3", "cannot be read as a number"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(answers: Any, data: str, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        read(answers, QueryDict(data))
