"""Signing up or in moves the session's progress to the account, once."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from courses.learners import learner_of
from courses.models import Chapter, ChapterCompletion, Learner, QuizAttempt

from .conftest import CHAPTER_URL, RIGHT_ANSWERS, answer_url

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
PASSWORD = "a-long-enough-phrase-42"


def sign_up(client: Client) -> None:
    response = client.post(
        "/accounts/signup/",
        {"username": "ada", "email": "", "password1": PASSWORD, "password2": PASSWORD},
    )
    assert response.status_code == 302
    assert client.get(CHAPTER_URL).context["user"].is_authenticated


def sign_in(client: Client) -> None:
    response = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert response.status_code == 302
    assert client.get(CHAPTER_URL).context["user"].is_authenticated


def answer(client: Client, *keys: str) -> None:
    for key in keys:
        client.post(answer_url(key), RIGHT_ANSWERS[key])


def test_sign_up_keeps_answers_and_completion(client: Client, rows: Chapter) -> None:
    client.post(answer_url("which"), {"choice": "one"})
    answer(client, *RIGHT_ANSWERS)
    completed_at = ChapterCompletion.objects.get().completed_at
    sign_up(client)
    context = client.get(CHAPTER_URL).context
    assert context["completed"]
    assert context["quiz"].item("which").attempts == 2
    learner = Learner.objects.get()
    assert learner.user is not None
    assert learner.user.username == "ada"
    assert ChapterCompletion.objects.get().completed_at == completed_at


def test_signing_in_adds_to_the_accounts_progress(client: Client, rows: Chapter) -> None:
    user = User.objects.create_user("ada", password=PASSWORD)
    desk = Client()
    desk.force_login(user)
    desk.post(answer_url("which"), {"choice": "one"})
    answer(desk, "all-of")
    client.post(answer_url("which"), {"choice": "three"})
    client.post(answer_url("all-of"), {"choice": "b"})
    answer(client, "which")
    sign_in(client)
    learner = Learner.objects.get()
    attempts = learner.attempts.order_by("question_key", "number")
    assert [(one.question_key, one.number, one.answer) for one in attempts] == [
        ("all-of", 1, ["a", "c"]),
        ("which", 1, ["one"]),
        ("which", 2, ["three"]),
        ("which", 3, ["two"]),
    ]
    assert client.get(CHAPTER_URL).context["quiz"].done == 2


def test_two_halves_make_a_whole(client: Client, rows: Chapter) -> None:
    user = User.objects.create_user("ada", password=PASSWORD)
    desk = Client()
    desk.force_login(user)
    answer(desk, "which")
    answer(client, "all-of", "root")
    assert not ChapterCompletion.objects.exists()
    sign_in(client)
    assert ChapterCompletion.objects.get().learner.user == user


def test_both_completed_is_one_completion(client: Client, rows: Chapter) -> None:
    user = User.objects.create_user("ada", password=PASSWORD)
    desk = Client()
    desk.force_login(user)
    answer(desk, *RIGHT_ANSWERS)
    answer(client, *RIGHT_ANSWERS)
    assert ChapterCompletion.objects.count() == 2
    sign_in(client)
    assert ChapterCompletion.objects.get().learner.user == user
    assert QuizAttempt.objects.count() == 3


def test_signing_out_and_in_again_neither_loses_nor_doubles(client: Client, rows: Chapter) -> None:
    answer(client, "which")
    sign_up(client)
    client.post("/accounts/logout/")
    assert client.get(CHAPTER_URL).context["quiz"].done == 0
    sign_in(client)
    assert client.get(CHAPTER_URL).context["quiz"].done == 1
    assert QuizAttempt.objects.count() == 1


def test_the_next_user_of_the_browser_gets_none_of_it(client: Client, rows: Chapter) -> None:
    answer(client, "which")
    sign_up(client)
    client.post("/accounts/logout/")
    bob = User.objects.create_user("bob")
    client.force_login(bob)
    assert client.get(CHAPTER_URL).context["quiz"].done == 0


def test_signing_in_without_answers_makes_no_rows(client: Client, rows: Chapter) -> None:
    User.objects.create_user("ada", password=PASSWORD)
    sign_in(client)
    assert not Learner.objects.exists()


def test_a_spoilt_session_value_is_no_learner(client: Client, rows: Chapter) -> None:
    session = client.session
    session["learner"] = "not-a-uuid"
    session.save()
    assert client.get(CHAPTER_URL).status_code == 200
    answer(client, "which")
    assert client.get(CHAPTER_URL).context["quiz"].done == 1


def test_a_session_cannot_claim_an_accounts_learner(client: Client, rows: Chapter) -> None:
    victim = learner_of(User.objects.create_user("ada"))
    session = client.session
    session["learner"] = str(victim.pk)
    session.save()
    answer(client, "which")
    assert not victim.attempts.exists()
