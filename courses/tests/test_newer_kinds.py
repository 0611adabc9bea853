"""Ordering, matching and output questions: on the page, without scripts, and in the admin."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from courses.models import Chapter, ChapterCompletion, OrderingItem, Question, QuizAttempt

from .admin_forms import change_url, errors_at, form_data, post, prefix_of, send
from .conftest import FIXTURES, client_of_author, import_once

URL = "/courses/kinds-course/kinds/"
RIGHT_ORDER = ["first-mix", "second-rise", "third-bake", "fourth-eat"]


@pytest.fixture
def kinds(db: None) -> Chapter:
    import_once(FIXTURES / "kinds-course")
    return Chapter.objects.select_related("current_revision").get(slug="kinds")


@pytest.fixture
def author(kinds: Chapter) -> Client:
    return client_of_author("author")


def answers(chapter: Chapter) -> dict[str, Any]:
    assert chapter.current_revision is not None
    return dict(chapter.current_revision.answers)


def order_form(chapter: Chapter, keys: list[str]) -> dict[str, str]:
    tokens = {item["key"]: item["token"] for item in answers(chapter)["bake"]["items"]}
    return {f"place-{tokens[key]}": str(place) for place, key in enumerate(keys, start=1)}


def pairs_form(chapter: Chapter, partners: dict[str, str]) -> dict[str, str]:
    pairs = {pair["key"]: pair for pair in answers(chapter)["capitals"]["pairs"]}
    return {
        f"match-{pairs[key]['left']}": pairs[partner]["right"] for key, partner in partners.items()
    }


def answer(client: Client, question: str, data: dict[str, str]) -> Any:
    return client.post(f"{URL}questions/{question}/answer", data)


def test_all_three_are_answered_without_script_and_complete_the_chapter(
    client: Client, kinds: Chapter
) -> None:
    assert answer(client, "bake", order_form(kinds, RIGHT_ORDER)).status_code == 303
    right = {name: name for name in ("france", "italy", "spain")}
    assert answer(client, "capitals", pairs_form(kinds, right)).status_code == 303
    assert answer(client, "prints", {"value": "[1, 2]\r\n3\r\n"}).status_code == 303
    body = client.get(URL).content.decode()
    assert "3 / 3 done" in body
    for said in ("Dough before oven", "Lyon is no capital", "A slice leaves its end out"):
        assert said in body
    assert ChapterCompletion.objects.count() == 1
    assert QuizAttempt.objects.count() == 3


def test_a_wrong_order_stays_as_it_was_left_with_a_mark_at_each_place(
    client: Client, kinds: Chapter
) -> None:
    given = ["first-mix", "third-bake", "second-rise", "fourth-eat"]
    answer(client, "bake", order_form(kinds, given))
    item = client.get(URL).context["quiz"].item("bake")
    tokens = {one["token"]: one["key"] for one in answers(kinds)["bake"]["items"]}
    assert [tokens[shown["key"]] for shown in item.question["items"]] == given
    body = client.get(URL).content.decode()
    assert "Is there a dough yet?" in body
    assert "Nothing can rise before it is mixed" in body
    assert "The heat ends the rising" not in body
    # And again, in the right order this time.
    answer(client, "bake", order_form(kinds, RIGHT_ORDER))
    assert client.get(URL).context["quiz"].item("bake").state == "right"


def test_every_line_needs_a_partner_and_choices_are_kept(client: Client, kinds: Chapter) -> None:
    response = answer(client, "capitals", pairs_form(kinds, {"france": "spain"}))
    assert response.status_code == 422
    body = response.content.decode()
    assert "Choose a partner for every line" in body
    right_of_spain = pairs_form(kinds, {"france": "spain"}).popitem()[1]
    assert f'<option value="{right_of_spain}" selected>' in body
    assert not QuizAttempt.objects.exists()


def test_neither_page_nor_markup_tells_an_answer(client: Client, kinds: Chapter) -> None:
    assert kinds.current_revision is not None
    body = client.get(URL).content.decode()
    for text in (body, json.dumps(kinds.current_revision.page)):
        # Keys such as second-rise would be the answer.
        for secret in (*RIGHT_ORDER, "france", "nothing", "It lies on the Seine", "Since 987"):
            assert secret not in text
        assert "[1, 2]" not in text
    pairs = answers(kinds)["capitals"]["pairs"]
    rights = [pair["right"] for pair in pairs]
    listed = [entry["key"] for entry in kinds.current_revision.page["questions"][1]["rights"]]
    assert listed == sorted(rights)
    assert {pair["left"] for pair in pairs}.isdisjoint(rights)


def orders(client: Client) -> list[list[str]]:
    quiz = client.get(URL).context["quiz"]
    return [
        [item["key"] for item in quiz.item("bake").question["items"]],
        [right["key"] for right in quiz.item("capitals").question["rights"]],
    ]


def test_an_order_stays_with_the_first_answer_and_for_all_visitors(kinds: Chapter) -> None:
    client = Client()
    first = orders(client)
    answer(client, "prints", {"value": "nothing"})  # now there is a session, and a learner
    assert client.session["learner"]
    assert orders(client) == first
    # One page is kept in memory for all visitors.
    assert orders(Client()) == first


def test_each_account_has_an_order_of_its_own_in_every_browser(kinds: Chapter) -> None:
    seen = set()
    for number in range(8):
        user = User.objects.create_user(f"ada{number}")
        clients = [Client(), Client()]
        for client in clients:
            client.force_login(user)
        assert orders(clients[0]) == orders(clients[1])
        seen.add(json.dumps(orders(clients[0])))
    assert len(seen) > 3


def test_new_wording_keeps_answers_and_another_order_asks_again(
    client: Client, author: Client, kinds: Chapter
) -> None:
    answer(client, "bake", order_form(kinds, RIGHT_ORDER))
    bake = Question.objects.get(key="bake")
    page = author.get(change_url(bake))
    prefix = prefix_of(page, "items", "second-rise")
    data = form_data(page)
    assert send(author, change_url(bake), data, **{f"{prefix}-text": "Wait."}).status_code == 302
    assert client.get(URL).context["quiz"].item("bake").state == "right"
    page = author.get(change_url(bake))
    swap = {prefix_of(page, "items", key): key for key in ("first-mix", "second-rise")}
    places = {f"{prefix}-position": str(2 - n) for n, prefix in enumerate(swap)}
    assert send(author, change_url(bake), form_data(page), **places).status_code == 302
    item = client.get(URL).context["quiz"].item("bake")
    assert item.state == "open"
    assert "has changed what counts as right" in item.message


@pytest.mark.parametrize(
    ("question", "formset", "row", "field", "value", "said"),
    [
        ("bake", "items", "third-bake", "text", "Let it rise.", "says the same as “second-rise”"),
        ("bake", "items", "third-bake", "key", "second-rise", "Please correct the duplicate"),
        ("bake", "items", "third-bake", "hint", "$\\x$", "Line 1, column 2"),
        ("capitals", "pairs", "italy", "right", "Paris", "“france” has the same right side"),
        ("capitals", "pairs", "italy", "left", "France", "“france” has the same left side"),
        ("capitals", "pairs", "spain", "left", "$", "Line 1, column 1"),
        ("prints", "hints", "[1, 2, 3]\n3\n", "value", "[1, 2]\r\n3", "would never be shown"),
        ("prints", "", "", "output", " ", "a space alone is nothing"),
        ("prints", "", "", "code", "", "A question of this kind needs its code."),
        ("prints", "", "", "language", "", "A question of this kind needs its language."),
        ("prints", "", "", "code", "x = 1\nprint(x:\n", "Line 2, column 8: Python cannot read"),
        ("prints", "", "", "code", "x = 1\nreturn x\n", "outside function"),
        ("bake", "", "", "code", "print(1)", "empty the rest"),
    ],
)
def test_the_admin_says_what_is_wrong_with_a_question_and_where(
    author: Client, question: str, formset: str, row: str, field: str, value: str, said: str
) -> None:
    row_of = Question.objects.get(key=question)
    page = author.get(change_url(row_of))
    name = f"{prefix_of(page, formset, row)}-{field}" if formset else field
    response = send(author, change_url(row_of), form_data(page), **{name: value})
    assert response.status_code == 200
    text = re.sub(r"\s+", " ", response.content.decode())
    assert said in text
    if not formset and ("Line" in said or "needs its" in said):
        assert field in response.context["adminform"].form.errors
    elif "Line" in said or "never" in said:
        assert field in errors_at(response, formset, name.rsplit("-", 1)[0])


def test_too_few_steps_are_refused(author: Client, kinds: Chapter) -> None:
    bake = Question.objects.get(key="bake")
    page = author.get(change_url(bake))
    gone = {f"{prefix_of(page, 'items', key)}-DELETE": "on" for key in RIGHT_ORDER[:2]}
    response = send(author, change_url(bake), form_data(page), **gone)
    assert "needs 3 to 12 steps, and has 2" in response.content.decode()
    assert OrderingItem.objects.count() == 4


def test_a_question_that_becomes_another_kind_loses_the_rows_of_the_old_one(
    author: Client, kinds: Chapter
) -> None:
    bake = Question.objects.get(key="bake")
    response = post(author, change_url(bake), kind="numeric", answer="2", tolerance="0")
    assert response.status_code == 302
    assert not OrderingItem.objects.exists()


def test_a_question_with_pairs_is_made_in_the_admin(author: Client, kinds: Chapter) -> None:
    data = {
        "chapter": str(kinds.pk),
        "key": "new",
        "kind": "matching",
        "prompt": "Which?",
        "pairs-TOTAL_FORMS": "2",
    }
    for place, (key, left, right) in enumerate([("a", "one", "1"), ("b", "two", "2")]):
        names = {"key": key, "left": left, "right": right}
        data |= {f"pairs-{place}-{name}": value for name, value in names.items()}
    assert post(author, reverse("admin:courses_question_add"), **data).status_code == 302
    shown = Client().get(URL).context["quiz"].item("new").question
    assert [left["html"].strip() for left in shown["lefts"]] == ["<p>one</p>", "<p>two</p>"]


def test_prerequisites_are_rendered(client: Client, kinds: Chapter) -> None:
    page = client.get(URL).context["page"]
    assert "What a mean" in page["prerequisites_html"]
    assert "katex" in page["prerequisites_html"]
