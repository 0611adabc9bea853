"""Unpublished chapters: previewed by their authors, hidden from everybody else."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from courses.models import Chapter, ChapterRevision, Learner, QuizAttempt

from .conftest import CHAPTER_URL, RIGHT_ANSWERS, answer_url

pytestmark = pytest.mark.django_db
BANNER = "Not published: only authors see this page."
FETCH = {"X-Requested-With": "fetch"}


@pytest.fixture
def draft(rows: Chapter) -> Chapter:
    """The chapter taken back, and edited since."""
    Chapter.objects.filter(pk=rows.pk).update(published=False, intuition="DRAFT with $\\mho$.")
    return rows


def test_an_author_sees_the_draft_with_a_banner(author: Client, draft: Chapter) -> None:
    response = author.get(CHAPTER_URL)
    body = response.content.decode()
    assert response.status_code == 200
    assert BANNER in body
    assert "DRAFT with" in body
    assert 'id="line-total"' in body
    assert f'href="/admin/courses/chapter/{draft.pk}/change/"' in body
    assert [link.chapter.slug for link in response.context["chapters"]] == ["rows", "columns"]
    assert response.context["next"].slug == "columns"
    assert "private" in response["Cache-Control"]


def test_the_drafts_formulas_have_their_styles(author: Client, draft: Chapter) -> None:
    response = author.get(CHAPTER_URL)
    styles = response.context["formulas_styles"]
    assert f"<style>{styles}</style>" in response.content.decode()
    assert styles


def test_looking_at_a_draft_publishes_nothing(author: Client, draft: Chapter) -> None:
    revisions = ChapterRevision.objects.count()
    author.get(CHAPTER_URL)
    assert ChapterRevision.objects.count() == revisions
    assert not Chapter.objects.get(pk=draft.pk).published
    assert Client().get(CHAPTER_URL).status_code == 404


def test_a_chapter_that_was_never_published_can_be_previewed(author: Client, rows: Chapter) -> None:
    new = Chapter.objects.create(
        course=rows.course, slug="new", title="New", published=False, position=9, intuition="Soon."
    )
    response = author.get(new.get_absolute_url())
    assert BANNER in response.content.decode()
    assert response.context["previous"].slug == "columns"
    assert response.context["next"] is None


def test_learners_and_visitors_do_not_see_the_draft(client: Client, draft: Chapter) -> None:
    assert client.get(CHAPTER_URL).status_code == 404
    client.force_login(User.objects.create_user("ada"))
    assert client.get(CHAPTER_URL).status_code == 404
    assert client.post(answer_url("which"), {"choice": "two"}).status_code == 404
    assert client.get(f"{CHAPTER_URL}files/mean.py").status_code == 404


def test_a_published_chapter_shows_authors_no_banner(author: Client, rows: Chapter) -> None:
    assert BANNER not in author.get(CHAPTER_URL).content.decode()


@pytest.mark.parametrize("headers", [{}, FETCH])
def test_answers_to_a_draft_are_checked_and_not_kept(
    author: Client, draft: Chapter, headers: dict[str, str]
) -> None:
    response = author.post(answer_url("which"), {"choice": "one"}, headers=headers)
    assert response.status_code == 200
    assert "That is the smallest." in response.content.decode()
    response = author.post(answer_url("root"), RIGHT_ANSWERS["root"], headers=headers)
    assert response.context["quiz"].item("root").state == "right"
    assert author.post(answer_url("root"), {"value": "x"}, headers=headers).status_code == 422
    assert not QuizAttempt.objects.exists()
    assert not Learner.objects.exists()


def test_a_drafts_listing_can_be_downloaded(author: Client, draft: Chapter) -> None:
    assert author.get(f"{CHAPTER_URL}files/mean.py").status_code == 200


def test_a_draft_with_mistakes_says_which(author: Client, draft: Chapter) -> None:
    Chapter.objects.filter(pk=draft.pk).update(summary="$\\nosuch$ [x](#step-none)")
    body = author.get(CHAPTER_URL).content.decode()
    assert "This draft cannot be shown yet" in body
    assert "summary, line 1, column 2" in body
    assert "#step-none" in body
    assert author.get(f"{CHAPTER_URL}files/mean.py").status_code == 404
