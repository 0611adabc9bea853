from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from courses.management.commands.load_course import LIBRARY
from courses.models import Chapter, QuizAttempt
from courses.tests.conftest import import_once
from grader.tests.calls import ROOT, Api, assert_problem

SLUG = "deep-neural-representations"


@pytest.fixture
def published(db: None) -> Chapter:
    import_once(LIBRARY / "learn-ml-from-scratch")
    return Chapter.objects.select_related("current_revision").get(slug=SLUG)


def question(chapter: Chapter, kind: str) -> tuple[str, dict[str, Any]]:
    assert chapter.current_revision is not None
    answers = chapter.current_revision.answers
    return next((key, answer) for key, answer in answers.items() if answer["kind"] == kind)


def test_anyone_can_read_published_chapters_without_their_answers(
    api: Api, published: Chapter
) -> None:
    listed = api().get(f"{ROOT}/chapters/").json()[0]
    assert (listed["slug"], listed["course"]) == (SLUG, "learn-ml-from-scratch")
    response = api().get(f"{ROOT}/chapters/{SLUG}/")
    body = response.json()
    assert body["page"]["formulas"][0]["html"]
    assert body["page"]["questions"]
    text = response.content.decode()
    assert published.current_revision is not None
    for answer in published.current_revision.answers.values():
        choices = answer.get("choices", {}).values()
        for part in (*choices, *answer.get("items", ()), *answer.get("pairs", ())):
            assert not part["feedback_html"] or part["feedback_html"] not in text
    for asked in body["page"]["questions"]:
        for parts in ("choices", "items", "lefts", "rights"):
            assert all(set(part) == {"key", "html"} for part in asked.get(parts, []))


def test_an_unpublished_chapter_is_not_there(api: Api, published: Chapter) -> None:
    Chapter.objects.update(published=False)
    assert api().get(f"{ROOT}/chapters/").json() == []
    assert_problem(api().get(f"{ROOT}/chapters/{SLUG}/"), 404)


def test_a_wrong_answer_says_why_and_a_right_one_explains(
    api: Api, learner: User, published: Chapter
) -> None:
    key, answers = question(published, "single")
    right = next(name for name, choice in answers["choices"].items() if choice["correct"])
    wrong = next(name for name, choice in answers["choices"].items() if not choice["correct"])
    client, url = api(learner), f"{ROOT}/chapters/{SLUG}/answers/"
    first = client.post(url, {"question": key, "choices": [wrong]}, format="json").json()
    assert (first["correct"], first["attempt"], first["explanation_html"]) == (False, 1, None)
    assert first["feedback"][0]["html"]
    again = client.post(url, {"question": key, "choices": [wrong]}, format="json").json()
    assert again["attempt"] == 1
    second = client.post(url, {"question": key, "choices": [right]}, format="json").json()
    assert (second["correct"], second["attempt"]) == (True, 2)
    assert second["explanation_html"]
    assert set(QuizAttempt.objects.values_list("learner__user", flat=True)) == {learner.pk}


def test_a_number_is_judged(api: Api, learner: User, published: Chapter) -> None:
    key, answers = question(published, "numeric")
    url = f"{ROOT}/chapters/{SLUG}/answers/"
    body = {"question": key, "value": answers["answer"]}
    assert api(learner).post(url, body, format="json").json()["correct"] is True


NO_ANSWERS: list[dict[str, Any]] = [
    {"question": "no-such-question"},
    {"question": None},
    {"choices": []},
    {"choices": ["no-such-choice"]},
    {"choices": "a"},
    {"choices": [1]},
    {"choices": ["\0"]},
    {"choices": ["a"] * 1000},
]


def test_an_invalid_answer_is_refused_and_makes_no_attempt(
    api: Api, learner: User, published: Chapter
) -> None:
    key, _ = question(published, "single")
    client, url = api(learner), f"{ROOT}/chapters/{SLUG}/answers/"
    for change in NO_ANSWERS:
        body = {"question": key, "choices": ["a"], **change}
        assert_problem(client.post(url, body, format="json"), 400, "invalid")
    assert not QuizAttempt.objects.exists()


def test_answering_asks_for_a_token_with_the_scope(
    api: Api, learner: User, published: Chapter
) -> None:
    url = f"{ROOT}/chapters/{SLUG}/answers/"
    assert_problem(api().post(url, {}, format="json"), 401)
    assert_problem(api(learner, "read").post(url, {}, format="json"), 403)


@pytest.mark.parametrize("kind", ["ordering", "matching", "output"])
def test_orders_pairs_and_output_are_answered_by_the_names_on_the_page(
    api: Api, learner: User, published: Chapter, kind: str
) -> None:
    key, answers = question(published, kind)
    page = api().get(f"{ROOT}/chapters/{SLUG}/").json()["page"]
    asked = next(one for one in page["questions"] if one["key"] == key)
    if kind == "ordering":
        right = [item["token"] for item in answers["items"]]
        assert {item["key"] for item in asked["items"]} == set(right)
        bodies = [{"choices": right[::-1]}, {"choices": right}]
    elif kind == "matching":
        pairs = [pair for pair in answers["pairs"] if pair["left"]]
        assert {left["key"] for left in asked["lefts"]} == {pair["left"] for pair in pairs}
        right = [f"{pair['left']}:{pair['right']}" for pair in pairs]
        turned = [pair["right"] for pair in pairs[1:] + pairs[:1]]
        wrong = [f"{pair['left']}:{other}" for pair, other in zip(pairs, turned, strict=True)]
        bodies = [{"choices": wrong}, {"choices": right}]
    else:
        bodies = [{"value": "nothing"}, {"value": answers["output"]}]
    client, url = api(learner), f"{ROOT}/chapters/{SLUG}/answers/"
    replies = [client.post(url, {"question": key, **body}, format="json") for body in bodies]
    assert [reply.json()["correct"] for reply in replies] == [False, True]
