"""Many requests at once: one attempt, one completion, one learner."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from courses.content.importer import load_course
from courses.learners import learner_of
from courses.models import (
    Chapter,
    ChapterCompletion,
    ChapterRevision,
    Learner,
    QuizAttempt,
    RequirementMet,
)
from courses.progress.requirements import mark_met
from courses.services import publish_chapter

from .conftest import RIGHT_ANSWERS, TINY, answer_url

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 20


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Run `work(0)` ... `work(19)` in threads that start together; return or raise what they do."""
    barrier = threading.Barrier(THREADS)
    results: list[Any] = [None] * THREADS
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            barrier.wait()
            results[number] = work(number)
        except BaseException as error:  # noqa: BLE001  raised again below, in the test's thread
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.fixture
def tabs(db: None) -> list[Client]:
    """Twenty tabs of one signed-in learner."""
    load_course(TINY)
    user = User.objects.create_user("ada")
    first = Client()
    first.force_login(user)
    tabs = [first]
    for _ in range(THREADS - 1):
        tab = Client()
        tab.cookies = first.cookies.copy()
        tabs.append(tab)
    return tabs


def test_the_same_wrong_answer_twenty_times_at_once_is_one_attempt(tabs: list[Client]) -> None:
    responses = at_once(lambda n: tabs[n].post(answer_url("which"), {"choice": "one"}))
    assert {response.status_code for response in responses} == {303}
    attempt = QuizAttempt.objects.get()
    assert (attempt.number, attempt.answer) == (1, ["one"])
    assert Learner.objects.count() == 1


def test_the_last_right_answer_twenty_times_at_once_completes_once(tabs: list[Client]) -> None:
    tabs[0].post(answer_url("which"), RIGHT_ANSWERS["which"])
    tabs[0].post(answer_url("all-of"), RIGHT_ANSWERS["all-of"])
    at_once(lambda n: tabs[n].post(answer_url("root"), RIGHT_ANSWERS["root"]))
    assert QuizAttempt.objects.filter(question_key="root").count() == 1
    assert RequirementMet.objects.count() == 1
    assert ChapterCompletion.objects.count() == 1


def test_all_questions_answered_at_once_complete_the_chapter(tabs: list[Client]) -> None:
    answers = list(RIGHT_ANSWERS.items())

    def work(number: int) -> None:
        key, data = answers[number % len(answers)]
        tabs[number].post(answer_url(key), data)

    at_once(work)
    assert QuizAttempt.objects.count() == 3
    assert ChapterCompletion.objects.count() == 1


def test_different_answers_at_once_get_numbers_without_gap_or_repeat(tabs: list[Client]) -> None:
    at_once(lambda n: tabs[n].post(answer_url("root"), {"value": str(n + 10)}))
    numbers = list(QuizAttempt.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, THREADS + 1))


def test_marking_a_requirement_twenty_times_reports_one_completion(db: None) -> None:
    load_course(TINY)
    chapter = Chapter.objects.get(slug="rows")
    learner = Learner.objects.create()
    assert sum(at_once(lambda n: mark_met(learner, chapter, "quiz"))) == 1
    assert ChapterCompletion.objects.count() == 1


def test_an_accounts_learner_is_made_once(db: None) -> None:
    user = User.objects.create_user("ada")
    assert len({learner.pk for learner in at_once(lambda n: learner_of(user))}) == 1


def test_publishing_one_edit_twenty_times_writes_one_revision(db: None) -> None:
    load_course(TINY)
    Chapter.objects.filter(slug="rows").update(title="Edited")
    at_once(lambda n: publish_chapter(Chapter.objects.get(slug="rows"), None))
    numbers = ChapterRevision.objects.filter(chapter__slug="rows").values_list("number", flat=True)
    assert sorted(numbers) == [1, 2]
