"""Answers follow renamed keys, and authors see how many learners have answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from courses.content.importer import Action, load_course
from courses.models import Chapter, Choice, OrderingItem, Question, QuizAttempt

from .admin_forms import change_url, errors_at, post, prefix_of
from .conftest import CHAPTER_URL, RIGHT_ANSWERS, answer_url

pytestmark = pytest.mark.django_db


def answered(*keys: str, learners: int = 1) -> list[Client]:
    """Let learners answer questions, rightly; return their browsers."""
    clients = []
    for number in range(learners):
        client = Client()
        client.force_login(User.objects.create_user(f"learner-{number}-{'-'.join(keys)}"))
        for key in keys:
            assert client.post(answer_url(key), RIGHT_ANSWERS[key]).status_code in (200, 302, 303)
        clients.append(client)
    return clients


def done(client: Client) -> int:
    return client.get(CHAPTER_URL).context["quiz"].done


def renamed_in_chapter(author: Client, chapter: Chapter, **keys: str) -> Any:
    """Give questions other keys in the form of their chapter."""
    url = change_url(chapter)
    page = author.get(url)
    changes = {
        f"{prefix_of(page, 'questions', old.replace('_', '-'))}-key": new
        for old, new in keys.items()
    }
    return post(author, url, **changes), changes


def test_a_question_renamed_on_its_page_keeps_its_answers_and_says_whose(
    author: Client, rows: Chapter
) -> None:
    learner, _ = answered("which", learners=2)
    question = Question.objects.get(key="which")
    assert "2 learners have answered it" in author.get(change_url(question)).content.decode()
    response = author.get(post(author, change_url(question), key="which-one").url)
    said = response.content.decode()
    assert "The key “which” is “which-one” now. 2 learners have answered it" in said
    assert said.count("answers went along") == 1
    assert done(learner) == 1
    assert set(QuizAttempt.objects.values_list("question_key", flat=True)) == {"which-one"}


def test_answers_follow_renamings_in_the_form_of_the_chapter_one_after_the_other(
    author: Client, rows: Chapter
) -> None:
    (learner,) = answered("which", "root")
    url = change_url(rows)
    assert "1 learner has answered it" in author.get(url).content.decode()
    # Exchanged by way of a third one: no two questions may have one key, not even for a moment.
    for change in ({"which": "other"}, {"root": "which"}, {"other": "root"}):
        response, _ = renamed_in_chapter(author, rows, **change)
        assert response.status_code == 302
    assert done(learner) == 2
    kinds = dict(QuizAttempt.objects.values_list("question_key", "answer"))
    assert kinds == {"root": ["two"], "which": "sqrt(7.5)"}


def test_answers_to_a_question_that_is_gone_go_to_no_other(author: Client, rows: Chapter) -> None:
    answered("which", "root")
    Question.objects.get(key="root").delete()
    response, changes = renamed_in_chapter(author, rows, which="root")
    assert response.status_code == 200
    (prefix,) = (name.removesuffix("-key") for name in changes)
    (said,) = errors_at(response, "questions", prefix)["key"]
    assert "1 learner has answered an earlier question with the key “root”" in said
    assert Question.objects.filter(key="which").exists()
    assert QuizAttempt.objects.filter(question_key="which").count() == 1


def test_an_answered_question_is_not_deleted_in_passing(author: Client, rows: Chapter) -> None:
    answered("which")
    url = change_url(rows)
    prefix = prefix_of(author.get(url), "questions", "which")
    response = post(author, url, title="Typed", **{f"{prefix}-DELETE": "on"})
    assert response.status_code == 200
    assert "1 learner has answered the question “which”" in response.content.decode()
    assert 'value="Typed"' in response.content.decode()
    question = Question.objects.get(key="which")
    delete = reverse("admin:courses_question_delete", args=[question.pk])
    page = author.get(delete).content.decode()
    assert "1 learner has answered this question. Their answers are kept" in page
    assert author.post(delete, {"post": "yes"}).status_code == 302
    assert not Question.objects.filter(key="which").exists()
    assert QuizAttempt.objects.filter(question_key="which").exists()


def test_a_question_that_nobody_answered_is_deleted_as_before(
    author: Client, rows: Chapter
) -> None:
    url = change_url(rows)
    prefix = prefix_of(author.get(url), "questions", "which")
    assert post(author, url, **{f"{prefix}-DELETE": "on"}).status_code == 302


def test_choices_with_other_keys_keep_the_answers_that_name_them(
    author: Client, rows: Chapter
) -> None:
    (learner,) = answered("all-of")
    question = Question.objects.get(key="all-of")
    places = {c.key: n for n, c in enumerate(question.choices.all())}
    changes = {f"choices-{places['a']}-key": "z", f"choices-{places['c']}-key": "b2"}
    assert post(author, change_url(question), **changes).status_code == 302
    assert QuizAttempt.objects.get().answer == ["b2", "z"]
    assert done(learner) == 1
    # What counts as right has changed: then the answer is asked for again.
    place = next(n for n, c in enumerate(question.choices.all()) if not c.correct)
    changed = {f"choices-{place}-correct": "on", f"choices-{place}-key": "other"}
    assert post(author, change_url(question), **changed).status_code == 302
    assert QuizAttempt.objects.get().answer == ["b2", "z"]
    assert done(learner) == 0


def test_a_draft_carries_them_too(author: Client, rows: Chapter) -> None:
    (learner,) = answered("all-of")
    assert post(author, change_url(rows), published=None).status_code == 302
    question = Question.objects.get(key="all-of")
    places = {c.key: n for n, c in enumerate(question.choices.all())}
    changes = {"key": "every", f"choices-{places['a']}-key": "z"}
    assert post(author, change_url(question), **changes).status_code == 302
    rows.refresh_from_db()
    assert post(author, change_url(rows), published="on").status_code == 302
    assert done(learner) == 1


def test_files_that_rename_carry_them_and_files_that_delete_say_how_many(
    course_files: Path, rows: Chapter
) -> None:
    (learner,) = answered("which", "all-of", "root")
    file = course_files / "rows" / "chapter.yaml"
    text = file.read_text()
    assert text.count("key: which\n") == 1
    file.write_text(text.replace("key: which\n", "key: which-one\n"))
    result = load_course(course_files).results[1]
    assert result.action is Action.UPDATED
    assert "The key “which” is “which-one” now. 1 learner has answered it" in result.message
    assert done(learner) == 3
    assert Question.objects.get(key="which-one").history.count() == 2
    begin = file.read_text().index("- key: root\n")
    rest = file.read_text()[begin:]
    end = rest.find("\n- key:", 1)
    after = rest[end + 1 :] if end > 0 else rest[rest.index("\nsummary_text") + 1 :]
    file.write_text(file.read_text()[:begin] + after)
    result = load_course(course_files).results[1]
    assert result.action is Action.UPDATED, result.message
    assert "1 learner has answered the question “root”, which is gone" in result.message


@pytest.mark.parametrize("kind", ["ordering", "matching"])
def test_the_order_and_the_pairs_keep_theirs(kind: str, rows: Chapter) -> None:
    from courses.answered import _version, carry_answers, keys_of

    question = Question.objects.create(chapter=rows, key="new", kind=kind, prompt="?", position=9)
    if kind == "ordering":
        first, _ = (
            OrderingItem.objects.create(question=question, key=key, text="T", position=place)
            for place, key in enumerate(("a", "b"))
        )
        given, expected = ["b", "a"], ["b", "z"]
    else:
        first, _ = (
            question.pairs.create(key=key, left="L", right="R", position=place)
            for place, key in enumerate(("a", "b"))
        )
        given, expected = ["a:b", "b:a"], ["b:z", "z:b"]
    before = keys_of(rows)
    keys = before[question.pk]
    learner = User.objects.create_user("l")
    from courses.learners import learner_of

    attempt = QuizAttempt.objects.create(
        learner=learner_of(learner),
        chapter=rows,
        revision=rows.current_revision,
        question_key="new",
        question_version=_version(kind, keys.rows.values()),
        number=1,
        answer=given,
        correct=False,
    )
    type(first).objects.filter(pk=first.pk).update(key="z")
    assert carry_answers(rows, before) == []
    attempt.refresh_from_db()
    assert attempt.answer == expected
    now = keys_of(rows)[question.pk]
    assert attempt.question_version == _version(kind, now.rows.values())
    assert Choice.objects.exists()
