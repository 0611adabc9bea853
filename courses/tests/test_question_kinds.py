"""Each kind of question parses and judges answers, and gives useful feedback."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from courses.quiz.kinds import AnswerError, arrange, as_sent, check, read

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
ORDERING: dict[str, Any] = {
    "kind": "ordering",
    "items": [
        {"key": key, "token": f"t-{key}", "feedback_html": f"yes {key}", "hint_html": f"no {key}"}
        for key in ("mix", "rise", "bake", "eat")
    ],
    "explanation_html": "",
}
MATCHING: dict[str, Any] = {
    "kind": "matching",
    "pairs": [
        {
            "key": key,
            "left": f"l-{key}" if key != "lyon" else "",
            "right": f"r-{key}",
            "feedback_html": f"yes {key}",
            "hint_html": f"no {key}",
        }
        for key in ("france", "italy", "lyon")
    ],
    "explanation_html": "",
}
OUTPUT: dict[str, Any] = {
    "kind": "output",
    "output": "[1, 2]\n  Done\n",
    "hints": [{"value": "[1, 2, 3]\n  Done", "feedback_html": "<p>the end is left out</p>"}],
    "explanation_html": "",
}
PAIRS_OF_PAGE = {
    "lefts": [{"key": "l-france", "html": "F"}, {"key": "l-italy", "html": "I"}],
    "rights": [{"key": f"r-{key}", "html": key} for key in ("france", "italy", "lyon")],
}


def test_single_right_shows_feedback_on_every_choice() -> None:
    result = check(SINGLE, ["a"])
    assert result.correct
    assert [(one.choice, one.correct) for one in result.feedback] == [("a", True), ("b", False)]


def test_a_wrong_single_choice_shows_feedback_only_on_itself() -> None:
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
        (ORDERING, "", "every step a number"),
        (ORDERING, "place-t-mix=1&place-t-rise=2&place-t-bake=2&place-t-eat=4", "the number 2"),
        (ORDERING, "place-t-mix=1&place-t-rise=2&place-t-bake=3&place-t-eat=9", "from 1 to 4"),
        (ORDERING, "choice=t-mix&choice=t-rise", "not the steps of this question"),
        (ORDERING, "choice=mix&choice=rise&choice=bake&choice=eat", "not the steps"),
        (MATCHING, "", "a partner for every line"),
        (MATCHING, "match-l-france=r-france", "a partner for every line"),
        (MATCHING, "match-l-france=r-lyon&match-l-italy=r-lyon", "chosen twice"),
        (MATCHING, "match-l-france=r-mars&match-l-italy=r-lyon", "not the pairs"),
        (MATCHING, "choice=l-france:r-france&choice=l-mars:r-italy", "not the pairs"),
        (OUTPUT, "", "Type what the program prints"),
        (OUTPUT, "value=+%0A++%0A", "Type what the program prints"),
        (OUTPUT, f"value={'x' * 2001}", "longer than 2000"),
    ],
)
def test_an_unreadable_answer_is_refused_with_a_reason(answers: Any, data: str, said: str) -> None:
    with pytest.raises(AnswerError, match=said):
        read(answers, QueryDict(data))


def test_an_order_is_read_from_numbers_and_from_a_list_alike() -> None:
    numbers = QueryDict("place-t-rise=1&place-t-mix=2&place-t-eat=3&place-t-bake=4")
    listed = QueryDict("choice=t-rise&choice=t-mix&choice=t-eat&choice=t-bake")
    assert read(ORDERING, numbers) == read(ORDERING, listed) == ["rise", "mix", "eat", "bake"]


def test_only_the_whole_order_is_right_and_each_place_says_whether_it_is() -> None:
    right = check(ORDERING, ["mix", "rise", "bake", "eat"])
    assert right.correct
    assert [one.html for one in right.feedback] == ["yes mix", "yes rise", "yes bake", "yes eat"]
    wrong = check(ORDERING, ["mix", "bake", "rise", "eat"])
    assert not wrong.correct
    assert [(one.choice, one.correct, one.html) for one in wrong.feedback] == [
        ("t-mix", True, "yes mix"),
        ("t-bake", False, "no bake"),
        ("t-rise", False, "no rise"),
        ("t-eat", True, "yes eat"),
    ]
    assert "The first step stands right; another one comes next, at place 2" in wrong.message
    assert "another step comes first" in check(ORDERING, ["eat", "mix", "rise", "bake"]).message


def test_steps_stand_where_the_learner_left_them_and_never_in_order_before() -> None:
    page = {"items": [{"key": f"t-{key}", "html": key} for key in ("bake", "eat", "mix", "rise")]}

    def shown(given: list[str], seed: str) -> list[str]:
        return [item["html"] for item in arrange(page, ORDERING, given, seed)["items"]]

    assert shown(["rise", "mix", "eat", "bake"], "s") == ["rise", "mix", "eat", "bake"]
    orders = {tuple(shown([], str(seed))) for seed in range(300)}
    assert len(orders) == 23  # all of 4 factorial but the right one
    assert ("mix", "rise", "bake", "eat") not in orders
    assert shown([], "ada") == shown([], "ada")


def test_numbers_that_are_no_order_are_shown_again_as_far_as_they_go() -> None:
    data = QueryDict("place-t-eat=1&place-t-mix=2&place-t-rise=2&place-t-bake=4")
    assert as_sent(ORDERING, data)[0] == "eat"
    assert as_sent(ORDERING, data)[3] == "bake"
    assert sorted(as_sent(ORDERING, QueryDict(""))) == ["bake", "eat", "mix", "rise"]


def test_pairs_are_read_from_fields_and_from_a_list_alike() -> None:
    fields = QueryDict("match-l-france=r-lyon&match-l-italy=r-italy")
    listed = QueryDict("choice=l-italy:r-italy&choice=l-france:r-lyon")
    assert read(MATCHING, fields) == read(MATCHING, listed) == ["france:lyon", "italy:italy"]


def test_each_pair_says_whether_it_is_right_and_gives_no_other_away() -> None:
    right = check(MATCHING, ["france:france", "italy:italy"])
    assert right.correct
    assert [one.html for one in right.feedback] == ["yes france", "yes italy"]
    wrong = check(MATCHING, ["france:lyon", "italy:italy"])
    assert [(one.choice, one.correct, one.html) for one in wrong.feedback] == [
        ("l-france", False, "no france"),
        ("l-italy", True, "yes italy"),
    ]
    assert "1 of 2 pairs are right" in wrong.message
    assert "no pair" in check(MATCHING, ["france:lyon", "italy:france"]).message


def test_right_sides_are_shuffled_with_letters_and_choices_stay() -> None:
    shown = arrange(PAIRS_OF_PAGE, MATCHING, ["france:lyon", "italy:italy"], "seed")
    assert [left["chosen"] for left in shown["lefts"]] == ["r-lyon", "r-italy"]
    assert [right["letter"] for right in shown["rights"]] == ["A", "B", "C"]
    orders = {
        tuple(right["html"] for right in arrange(PAIRS_OF_PAGE, MATCHING, [], str(seed))["rights"])
        for seed in range(100)
    }
    assert len(orders) == 5
    assert ("france", "italy", "lyon") not in orders


@pytest.mark.parametrize(
    "typed",
    [
        "[1, 2]\n  Done",
        "[1, 2]  \r\n  Done\t\r\n\r\n",
        "\n\n[1, 2]\n  Done\n",
        "[1,\u00a02]\n  Done",
    ],
)
def test_spaces_at_line_ends_and_lines_around_do_not_count(typed: str) -> None:
    data = QueryDict(mutable=True)
    data["value"] = typed
    assert read(OUTPUT, data) == "[1, 2]\n  Done"
    assert check(OUTPUT, typed).correct


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("[1,2]\n  Done", "only the spaces differ"),
        ("[1, 2]\nDone", "only the spaces differ"),
        ("[1, 2]\n  done", "only capital and small letters differ"),
        ("[1, 2]\n  Dane", "Line 2 is another one"),
        ("[1, 2]", "the program prints more lines"),
        ("[1, 2]\n  Done\nx", "the program prints fewer lines"),
        ("[1, 2, 3]\n  Done", "Read what went wrong"),
    ],
)
def test_all_other_differences_in_output_count(typed: str, said: str) -> None:
    result = check(OUTPUT, typed)
    assert not result.correct
    assert said in result.message
    assert [one.html for one in result.feedback] == (
        ["<p>the end is left out</p>"] if "3" in typed else []
    )
