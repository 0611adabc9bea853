"""Deleting: allowed for unused content, refused with a reason once learners have answered."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from courses.models import Chapter, ChapterRevision, Course, Learner, Question, QuizAttempt
from courses.progress.requirements import mark_met

from .admin_forms import change_url, post
from .conftest import CHAPTER_URL, RIGHT_ANSWERS, answer_url

pytestmark = pytest.mark.django_db


def delete_url(row: Any) -> str:
    return reverse(f"admin:courses_{row._meta.model_name}_delete", args=[row.pk])


def test_a_chapter_that_nobody_answered_is_deleted_with_its_parts(
    author: Client, rows: Chapter
) -> None:
    asked = author.get(delete_url(rows))
    assert asked.status_code == 200
    assert not asked.context["perms_lacking"]
    assert not asked.context["protected"]
    assert author.post(delete_url(rows), {"post": "yes"}).status_code == 302
    assert not Chapter.objects.filter(pk=rows.pk).exists()
    assert not ChapterRevision.objects.filter(chapter_id=rows.pk).exists()
    assert not Question.objects.filter(chapter_id=rows.pk).exists()
    assert Client().get(CHAPTER_URL).status_code == 404


def test_a_course_that_nobody_answered_is_deleted(author: Client, rows: Chapter) -> None:
    assert author.post(delete_url(rows.course), {"post": "yes"}).status_code == 302
    assert not Course.objects.exists()
    assert not Chapter.objects.exists()


@pytest.mark.parametrize("used", ["answer", "exercise"])
@pytest.mark.parametrize("kind", ["chapter", "course"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_deleting_content_that_learners_used_is_refused_and_unpublishing_is_offered(
    author: Client, rows: Chapter, used: str, kind: str, method: str
) -> None:
    if used == "answer":
        Client().post(answer_url("which"), RIGHT_ANSWERS["which"])
    else:
        mark_met(Learner.objects.create(), rows, "exercise:rmsnorm")
    row = rows if kind == "chapter" else rows.course
    response = getattr(author, method)(delete_url(row), {"post": "yes"}, follow=True)
    assert response.redirect_chain[-1][0] == change_url(row)
    body = response.content.decode()
    assert f"This {kind} was not deleted: learners have answered questions in" in body
    assert f'<a href="{change_url(rows)}">Rows</a>' in body
    assert "untick “Published” in its form" in body
    assert Chapter.objects.filter(pk=rows.pk).exists()


def test_unpublishing_takes_a_chapter_away_and_keeps_the_answers(
    author: Client, rows: Chapter
) -> None:
    Client().post(answer_url("which"), RIGHT_ANSWERS["which"])
    assert post(author, change_url(rows), published=None).status_code == 302
    assert Client().get(CHAPTER_URL).status_code == 404
    assert QuizAttempt.objects.count() == 1


def test_a_revision_alone_cannot_be_deleted(author: Client, rows: Chapter) -> None:
    assert rows.current_revision is not None
    url = delete_url(rows.current_revision)
    assert author.get(url).status_code == 403
    assert author.post(url, {"post": "yes"}).status_code == 403
    listed = reverse("admin:courses_chapterrevision_changelist")
    data = {"action": "delete_selected", "_selected_action": [rows.current_revision.pk]}
    author.post(listed, data | {"post": "yes"})
    assert ChapterRevision.objects.filter(pk=rows.current_revision.pk).exists()


def test_viewers_cannot_delete(rows: Chapter) -> None:
    user = User.objects.create_user("grader", is_staff=True)
    user.groups.add(Group.objects.get(name="grader"))
    client = Client()
    client.force_login(user)
    assert client.post(delete_url(rows), {"post": "yes"}).status_code == 403
    assert Chapter.objects.filter(pk=rows.pk).exists()
