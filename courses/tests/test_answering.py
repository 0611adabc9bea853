"""Answers over HTTP: each is counted once, and nothing else is."""

from __future__ import annotations

import re
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from courses.models import Chapter, ChapterCompletion, Choice, Learner, Question, QuizAttempt
from courses.services import publish_chapter

from .conftest import CHAPTER_URL, RIGHT_ANSWERS, answer_url

pytestmark = pytest.mark.django_db
FETCH = {"X-Requested-With": "fetch"}


def test_a_right_answer_sends_back_to_its_question(client: Client, rows: Chapter) -> None:
    response = client.post(answer_url("which"), {"choice": "two"})
    assert response.status_code == 303
    assert response["Location"] == f"{CHAPTER_URL}#question-which"
    quiz = client.get(CHAPTER_URL).context["quiz"]
    assert (quiz.done, quiz.total) == (1, 3)
    item = quiz.item("which")
    assert (item.state, item.attempts, item.answer) == ("right", 1, ["two"])
    assert "math-inline" in item.explanation_html


def test_a_wrong_answer_says_why_and_explains_nothing(client: Client, rows: Chapter) -> None:
    client.post(answer_url("which"), {"choice": "one"})
    item = client.get(CHAPTER_URL).context["quiz"].item("which")
    assert (item.state, item.attempts) == ("wrong", 1)
    assert "That is the smallest." in item.feedback[0].html
    assert item.explanation_html == ""


def test_a_script_gets_only_the_question(client: Client, rows: Chapter) -> None:
    response = client.post(answer_url("root"), {"value": "7.5"}, headers=FETCH)
    assert response.status_code == 200
    assert "courses/_question.html" in [template.name for template in response.templates]
    assert "courses/chapter.html" not in [template.name for template in response.templates]
    assert response.context["item"].state == "wrong"
    assert "Take the" in response.context["item"].feedback[0].html
    body = response.content.decode()
    assert 'id="question-root"' in body
    assert "<html" not in body


@pytest.mark.parametrize(
    ("key", "data", "said"),
    [
        ("which", {}, "Choose an answer first"),
        ("which", {"choice": "nonsense"}, "does not belong to this question"),
        ("which", {"choice": ["one", "two"]}, "one right answer"),
        ("all-of", {}, "at least one"),
        ("root", {}, "Type a number first"),
        ("root", {"value": "two and a half"}, "cannot be read as a number"),
        ("root", {"value": "2,739"}, "can mean 2739 or 2.739"),
        ("root", {"value": "65,504"}, "Write 65504, or 65.504 with a point"),
        ("root", {"value": "9" * 5000}, "longer than 100 characters"),
        ("root", {"value": "\x00"}, "cannot be read as a number"),
    ],
)
@pytest.mark.parametrize("headers", [FETCH, {}], ids=["fetch", "form"])
def test_an_unreadable_answer_is_reported_and_not_counted(
    client: Client,
    rows: Chapter,
    key: str,
    data: dict[str, str],
    said: str,
    headers: dict[str, str],
) -> None:
    response = client.post(answer_url(key), data, headers=headers)
    assert response.status_code == 422
    assert said in response.content.decode()
    assert said in response.context["quiz"].item(key).message
    assert not QuizAttempt.objects.exists()
    assert not Learner.objects.exists()


@pytest.mark.parametrize("headers", [FETCH, {}], ids=["fetch", "form"])
def test_answers_of_one_address_are_bounded_and_the_answer_is_not_lost(
    client: Client, rows: Chapter, settings: Settings, headers: dict[str, str]
) -> None:
    cache.clear()
    settings.ANSWERS_PER_MINUTE = 1
    with patch("courses.limits.time.time", return_value=600.0):
        client.post(answer_url("which"), {"choice": "two"}, headers=headers)
        response = client.post(answer_url("root"), {"value": "2.5"}, headers=headers)
        others = [Client(REMOTE_ADDR=address) for address in ("10.0.0.9", "")]
        elsewhere = [other.post(answer_url("root"), {"value": "2.5"}) for other in others]
    assert (response.status_code, response["Retry-After"]) == (429, "60")
    item = response.context["quiz"].item("root")
    assert (item.answer, item.state) == ("2.5", "open")
    assert "Too many answers" in item.message
    assert [answered.status_code for answered in elsewhere] == [303, 303]
    assert QuizAttempt.objects.filter(question_key="root").count() == 2


def test_the_typed_text_is_shown_again(client: Client, rows: Chapter) -> None:
    response = client.post(answer_url("root"), {"value": "<b>x</b>"}, headers=FETCH)
    assert response.context["item"].answer == "<b>x</b>"
    assert "&lt;b&gt;x&lt;/b&gt;" in response.content.decode()
    assert "<b>x" not in response.content.decode()


@pytest.mark.parametrize(
    "url",
    [
        answer_url("nosuch"),
        "/courses/tiny-course/nosuch/questions/which/answer",
        "/courses/nosuch/rows/questions/which/answer",
        "/courses/tiny-course/columns/questions/which/answer",
    ],
)
def test_an_unknown_question_is_the_404_page(client: Client, rows: Chapter, url: str) -> None:
    response = client.post(url, {"choice": "two"})
    assert response.status_code == 404
    assert "404.html" in [template.name for template in response.templates]


def test_an_answer_must_be_posted(client: Client, rows: Chapter) -> None:
    assert client.get(answer_url("which")).status_code == 405
    assert client.put(answer_url("which")).status_code == 405


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Origin": "http://sister.testserver"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://testserver:8001"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}, 303),
        ({"Origin": "http://testserver"}, 303),
    ],
)
def test_an_answer_counts_only_from_this_site(
    rows: Chapter, headers: dict[str, str], status: int
) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post(answer_url("which"), {"choice": "two"}, headers=headers)
    assert response.status_code == status
    assert QuizAttempt.objects.count() == (status == 303)


def test_a_browser_that_says_nothing_of_the_sender_needs_the_token(rows: Chapter) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("ada"))
    page = strict.get(CHAPTER_URL).content.decode()
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0]
    data = {"choice": "two", "csrfmiddlewaretoken": token}
    assert strict.post(answer_url("which"), data).status_code == 303


def test_a_double_click_is_one_attempt(client: Client, rows: Chapter) -> None:
    for _ in range(2):
        client.post(answer_url("which"), {"choice": "one"})
    for choices in (["a", "b"], ["b", "a"]):
        client.post(answer_url("all-of"), {"choice": choices})
    assert QuizAttempt.objects.filter(question_key="which").count() == 1
    assert QuizAttempt.objects.filter(question_key="all-of").count() == 1


def test_different_answers_are_counted_in_order(client: Client, rows: Chapter) -> None:
    for choice in ("one", "three", "one", "two"):
        client.post(answer_url("which"), {"choice": choice})
    attempts = QuizAttempt.objects.order_by("number")
    assert [(one.number, one.answer, one.correct) for one in attempts] == [
        (1, ["one"], False),
        (2, ["three"], False),
        (3, ["one"], False),
        (4, ["two"], True),
    ]
    assert {attempt.revision for attempt in attempts} == {rows.current_revision}


def test_after_a_right_answer_nothing_is_counted(client: Client, rows: Chapter) -> None:
    client.post(answer_url("which"), {"choice": "two"})
    client.post(answer_url("which"), {"choice": "one"})
    assert QuizAttempt.objects.get().answer == ["two"]
    assert client.get(CHAPTER_URL).context["quiz"].item("which").state == "right"


def test_all_right_answers_complete_the_chapter(client: Client, rows: Chapter) -> None:
    for key, data in RIGHT_ANSWERS.items():
        assert not client.get(CHAPTER_URL).context["completed"]
        client.post(answer_url(key), data)
    context = client.get(CHAPTER_URL).context
    assert context["completed"]
    assert (context["quiz"].done, context["quiz"].total) == (3, 3)
    completion = ChapterCompletion.objects.get()
    assert completion.revision == rows.current_revision


def test_a_visitor_gets_a_session_with_the_first_answer_only(client: Client, rows: Chapter) -> None:
    client.get(CHAPTER_URL)
    assert "sessionid" not in client.cookies
    assert not Session.objects.exists()
    client.post(answer_url("which"), {"choice": "one"})
    assert "sessionid" in client.cookies
    client.post(answer_url("root"), {"value": "1"})
    assert Learner.objects.count() == 1


def test_learners_do_not_see_each_others_answers(client: Client, rows: Chapter) -> None:
    client.post(answer_url("which"), {"choice": "two"})
    assert Client().get(CHAPTER_URL).context["quiz"].done == 0


def test_a_changed_key_asks_again_and_says_why(client: Client, rows: Chapter) -> None:
    for key, data in RIGHT_ANSWERS.items():
        client.post(answer_url(key), data)
    Choice.objects.filter(question__key="which", key="one").update(correct=True)
    Choice.objects.filter(question__key="which", key="two").update(correct=False)
    publish_chapter(rows, None)
    context = client.get(CHAPTER_URL).context
    item = context["quiz"].item("which")
    assert (item.state, item.attempts) == ("open", 0)
    assert "The author has changed" in item.message
    assert context["completed"]
    assert context["updated_since_completed"]
    client.post(answer_url("which"), {"choice": "one"})
    assert client.get(CHAPTER_URL).context["quiz"].item("which").state == "right"
    assert QuizAttempt.objects.filter(question_key="which").count() == 2


def test_changed_wording_keeps_answers(client: Client, rows: Chapter) -> None:
    client.post(answer_url("which"), {"choice": "two"})
    Question.objects.filter(key="which").update(prompt="Said better")
    publish_chapter(rows, None)
    item = client.get(CHAPTER_URL).context["quiz"].item("which")
    assert item.state == "right"
    assert "Said better" in item.question["prompt_html"]


def test_the_order_of_choices_is_the_learners_own_and_stays(client: Client, rows: Chapter) -> None:
    def order() -> list[str]:
        question = client.get(CHAPTER_URL).context["quiz"].item("which").question
        return [choice["key"] for choice in question["choices"]]

    before = order()
    client.post(answer_url("which"), {"choice": "one"})
    assert order() == before
    assert sorted(before) == ["one", "three", "two"]


def test_an_answer_stored_before_such_commas_were_refused_still_stands(
    client: Client, rows: Chapter
) -> None:
    client.post(answer_url("root"), {"value": "2.739"})
    QuizAttempt.objects.update(answer="2,739")
    item = client.get(CHAPTER_URL).context["quiz"].item("root")
    assert (item.state, item.answer, item.message) == ("right", "2,739", "That is right.")
