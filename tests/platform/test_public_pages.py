"""Public pages kept in memory: one for all unknown visitors, never an old one, never another's."""

from __future__ import annotations

from collections.abc import Callable

import brotli
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from courses.content.importer import load_course
from courses.models import Chapter, Course
from courses.pages import generation
from courses.services import publish_chapter
from courses.tests.conftest import CHAPTER_URL, TINY, answer_url
from grader.models import Exercise
from learnml.middleware import response_cache

pytestmark = pytest.mark.django_db


@pytest.fixture
def chapter() -> Chapter:
    assert not load_course(TINY).failed
    return Chapter.objects.get(slug="rows")


@pytest.fixture
def visitor() -> Client:
    """A browser without cookies; its pages are kept apart from other tests'."""
    return Client()


def queries_of(visitor: Client, url: str, **headers: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert visitor.get(url, headers=headers).status_code in (200, 304)
    return len(queries)


@pytest.mark.parametrize("url", [CHAPTER_URL, "/", "/courses/tiny-course/"])
def test_a_kept_page_costs_the_query_of_its_edition(
    chapter: Chapter, visitor: Client, url: str
) -> None:
    first = visitor.get(url)
    assert not first.cookies
    assert queries_of(visitor, url) == 1
    again = visitor.get(url)
    assert again.content == first.content
    # Each request has an id of its own.
    shown, kept = ({**page.headers, "X-Request-ID": ""} for page in (first, again))
    assert kept == shown


def test_a_kept_page_is_not_sent_to_a_browser_that_has_it(
    chapter: Chapter, visitor: Client
) -> None:
    etag = visitor.get(CHAPTER_URL)["ETag"]
    answer = visitor.get(CHAPTER_URL, headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer["Cache-Control"] == "no-cache"


def test_head_is_answered_without_a_body(chapter: Chapter, visitor: Client) -> None:
    length = len(visitor.get(CHAPTER_URL).content)
    for _ in range(2):
        answer = visitor.head(CHAPTER_URL)
        assert (answer.content, answer["Content-Length"]) == (b"", str(length))
    assert len(visitor.get(CHAPTER_URL).content) == length


def test_each_coding_and_theme_has_its_own(chapter: Chapter, visitor: Client) -> None:
    plain = visitor.get(CHAPTER_URL).content
    compressed = visitor.get(CHAPTER_URL, headers={"Accept-Encoding": "gzip, br"})
    assert compressed["Content-Encoding"] == "br"
    assert brotli.decompress(compressed.content) == plain
    visitor.cookies["theme"] = "dark"
    dark = visitor.get(CHAPTER_URL).content
    assert dark != plain
    del visitor.cookies["theme"]
    assert visitor.get(CHAPTER_URL).content == plain


def edit_title(chapter: Chapter) -> None:
    chapter.title = "Another title"
    chapter.save()
    publish_chapter(chapter, None)


def rename_course(chapter: Chapter) -> None:
    chapter.course.title = "Another course"
    chapter.course.save()


def add_exercise(chapter: Chapter) -> None:
    Exercise.objects.create(slug="rmsnorm", chapter=chapter, title="An exercise", is_published=True)


def withdraw(chapter: Chapter) -> None:
    chapter.published = False
    chapter.save()


def delete(chapter: Chapter) -> None:
    chapter.delete()


@pytest.mark.parametrize("change", [edit_title, rename_course, add_exercise, withdraw, delete])
def test_what_changed_shows_at_once(
    chapter: Chapter, visitor: Client, change: Callable[[Chapter], None]
) -> None:
    before = visitor.get(CHAPTER_URL)
    change(chapter)
    after = visitor.get(CHAPTER_URL)
    assert after.content != before.content
    assert after.status_code == (404 if change in (withdraw, delete) else 200)


def test_a_visitor_who_is_known_gets_pages_of_their_own(chapter: Chapter, visitor: Client) -> None:
    public = visitor.get(CHAPTER_URL).content.decode()
    assert "csrfmiddlewaretoken" not in public
    visitor.post(answer_url("which"), {"choice": "two"})
    own = visitor.get(CHAPTER_URL).content.decode()
    assert "1 / 3 done" in own
    assert "csrfmiddlewaretoken" in own
    # What is kept for others has nothing of it.
    visitor.cookies.clear()
    assert visitor.get(CHAPTER_URL).content.decode() == public


def test_signing_in_and_out_changes_the_page(chapter: Chapter, visitor: Client) -> None:
    public = visitor.get(CHAPTER_URL).content
    visitor.force_login(User.objects.create_user("ada"))
    assert b"Sign out" in visitor.get(CHAPTER_URL).content
    visitor.logout()
    assert visitor.get(CHAPTER_URL).content == public


@pytest.mark.parametrize("cookie", ["messages", "unheard-of"])
def test_any_other_cookie_asks_for_a_page_of_its_own(
    chapter: Chapter, visitor: Client, cookie: str
) -> None:
    visitor.get(CHAPTER_URL)
    visitor.cookies[cookie] = "something"
    assert queries_of(visitor, CHAPTER_URL) > 1


def test_forms_and_errors_are_not_kept(chapter: Chapter, visitor: Client) -> None:
    for url in ("/accounts/login/", "/nothing/"):
        assert "csrfmiddlewaretoken" in visitor.get(url).content.decode() or url == "/nothing/"
        visitor.cookies.clear()
        assert visitor.get(url).status_code == (404 if url == "/nothing/" else 200)
    assert "csrftoken" in visitor.cookies


def test_a_foreign_host_is_refused(chapter: Chapter, visitor: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    visitor.get(CHAPTER_URL)
    assert visitor.get(CHAPTER_URL, headers={"Host": "evil.example"}).status_code == 400


def test_memory_is_bounded(
    chapter: Chapter, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "CACHED_PAGES", 2)
    for url in (CHAPTER_URL, "/", "/courses/tiny-course/"):
        visitor.get(url)
    assert queries_of(visitor, "/") == 1
    assert queries_of(visitor, CHAPTER_URL) > 1


def test_a_change_made_past_the_site_shows_after_a_while(
    chapter: Chapter, visitor: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "CACHED_SECONDS", 0.0)
    visitor.get("/courses/tiny-course/")
    Course.objects.update(title="Another course")
    assert b"Another course" in visitor.get("/courses/tiny-course/").content


def test_the_edition_belongs_to_the_writers_transaction(chapter: Chapter) -> None:
    before = generation.current()
    point = transaction.savepoint()
    rename_course(chapter)
    assert generation.current() > before
    transaction.savepoint_rollback(point)
    assert generation.current() == before
