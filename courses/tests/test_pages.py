"""The pages: contents, number of queries, caching."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from courses import panels
from courses.models import Chapter, ChapterRevision, Course
from courses.pages import generation
from courses.pages.page_cache import render_reading
from courses.services import publish_chapter

from .conftest import CHAPTER_URL, TINY, answer_url

pytestmark = pytest.mark.django_db
MAX_CHAPTER_QUERIES = 5


def queries_of(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


@pytest.fixture
def without_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panels, "_providers", {"chapter": [], "dashboard": []})


def test_chapter_shows_the_published_revision_and_not_the_draft(
    client: Client, rows: Chapter
) -> None:
    Chapter.objects.filter(pk=rows.pk).update(intuition="DRAFT TEXT")
    body = client.get(CHAPTER_URL).content.decode()
    assert "First paragraph with" in body
    assert "DRAFT TEXT" not in body
    publish_chapter(rows, None)
    assert "DRAFT TEXT" in client.get(CHAPTER_URL).content.decode()


def test_chapter_context(client: Client, rows: Chapter) -> None:
    context = client.get(CHAPTER_URL).context
    assert context["course"].slug == "tiny-course"
    assert context["chapter"] == rows
    assert context["revision"] == rows.current_revision
    assert context["page"]["title"] == "Rows"
    assert context["previous"] is None
    assert context["next"].slug == "columns"
    assert [link.chapter.slug for link in context["chapters"]] == ["rows", "columns"]
    assert client.get("/courses/tiny-course/columns/").context["previous"].slug == "rows"


def test_a_courses_summary_breaks_no_lines_but_between_paragraphs(
    client: Client, rows: Chapter
) -> None:
    course = rows.course
    course.summary = "One line\nand its end.\r\n\r\nAnother <b>."
    course.save()
    html = client.get("/courses/tiny-course/").context["course_summary_html"]
    assert html == "<p>One line and its end.</p>\n\n<p>Another &lt;b&gt;.</p>"


def test_no_answer_is_on_the_page_of_a_visitor(client: Client, rows: Chapter) -> None:
    body = client.get(CHAPTER_URL).content.decode()
    for secret in ("Six thirds", "That is the smallest", "2.738612788", "Two divides them"):
        assert secret not in body


def test_chapter_queries_of_a_visitor(client: Client, rows: Chapter) -> None:
    assert queries_of(client, CHAPTER_URL) <= MAX_CHAPTER_QUERIES
    client.post(answer_url("which"), {"choice": "two"})
    assert queries_of(client, CHAPTER_URL) <= MAX_CHAPTER_QUERIES


def test_chapter_queries_of_a_signed_in_learner(client: Client, rows: Chapter) -> None:
    client.force_login(User.objects.create_user("ada"))
    client.post(answer_url("which"), {"choice": "two"})
    assert queries_of(client, CHAPTER_URL) <= MAX_CHAPTER_QUERIES


@pytest.mark.usefixtures("without_panels")
def test_chapter_queries_without_panels(client: Client, rows: Chapter) -> None:
    client.get(CHAPTER_URL)  # now this process has shown the revision
    assert queries_of(client, CHAPTER_URL) == 1
    client.force_login(User.objects.create_user("ada"))
    client.post(answer_url("which"), {"choice": "two"})
    assert queries_of(client, CHAPTER_URL) == 4


@pytest.mark.parametrize(
    "url",
    [
        "/courses/nosuch/",
        "/courses/tiny-course/nosuch/",
        "/courses/nosuch/rows/",
        f"{CHAPTER_URL}files/nosuch.py",
        f"{CHAPTER_URL}files/..%2fchapter.yaml",
        "/math/0123.css",
        # PostgreSQL refuses such a text.
        "/math/%00.css",
    ],
)
def test_what_does_not_exist_is_the_404_page(client: Client, rows: Chapter, url: str) -> None:
    response = client.get(url)
    assert response.status_code == 404
    assert "404.html" in [template.name for template in response.templates]


def test_an_unpublished_chapter_cannot_be_seen(client: Client, rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(published=False)
    assert client.get(CHAPTER_URL).status_code == 404
    assert client.post(answer_url("which"), {"choice": "two"}).status_code == 404
    chapters = client.get("/courses/tiny-course/").context["chapters"]
    assert [entry.chapter.slug for entry in chapters] == ["columns"]


def test_a_course_without_published_chapters_is_not_listed_and_its_page_says_so(
    client: Client, rows: Chapter
) -> None:
    Course.objects.create(slug="empty", title="Empty")
    assert [e.course.slug for e in client.get("/").context["courses"]] == ["tiny-course"]
    assert "No chapter is published yet." in client.get("/courses/empty/").content.decode()
    for chapter in Chapter.objects.all():
        chapter.published = False
        chapter.save()
    assert client.get("/").context["courses"] == []
    body = client.get("/courses/tiny-course/").content.decode()
    assert "No chapter is published yet." in body
    assert "Rows" not in body


def test_pages_without_any_course_work(client: Client) -> None:
    assert client.get("/").context["featured"] is None
    assert client.get("/dashboard/").status_code == 200


@pytest.mark.parametrize("url", ["/", "/dashboard/", "/courses/tiny-course/", CHAPTER_URL])
def test_pages_are_read_only(client: Client, rows: Chapter, url: str) -> None:
    assert client.post(url).status_code == 405
    assert client.head(url).status_code == 200


def test_a_page_that_has_not_changed_is_not_sent_again(client: Client, rows: Chapter) -> None:
    client.get(CHAPTER_URL)
    first = client.get(CHAPTER_URL)
    again = client.get(CHAPTER_URL, headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""
    assert again["ETag"] == first["ETag"]


@pytest.mark.parametrize("change", ["answer", "revision", "theme", "login"])
def test_every_change_of_a_page_changes_its_etag(
    client: Client, rows: Chapter, change: str
) -> None:
    client.get(CHAPTER_URL)
    before = client.get(CHAPTER_URL)["ETag"]
    if change == "answer":
        client.post(answer_url("which"), {"choice": "one"})
    elif change == "revision":
        Chapter.objects.filter(pk=rows.pk).update(intuition="Other words")
        publish_chapter(rows, None)
    elif change == "theme":
        client.post("/theme/", {"theme": "dark", "next": CHAPTER_URL})
    else:
        client.force_login(User.objects.create_user("ada"))
    response = client.get(CHAPTER_URL, headers={"If-None-Match": before})
    assert response.status_code == 200
    assert response["ETag"] != before


def test_a_new_csrf_secret_is_a_new_page(client: Client, rows: Chapter) -> None:
    """The forms of the cached page would be refused."""
    client.force_login(User.objects.create_user("ada"))
    client.get(CHAPTER_URL)
    before = client.get(CHAPTER_URL)["ETag"]
    del client.cookies["csrftoken"]
    assert client.get(CHAPTER_URL, headers={"If-None-Match": before}).status_code == 200


def test_personal_pages_are_private(client: Client, rows: Chapter) -> None:
    assert "private" not in client.get(CHAPTER_URL)["Cache-Control"]
    client.post(answer_url("which"), {"choice": "one"})
    response = client.get(CHAPTER_URL)
    assert response["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response["Vary"]


def test_listing_is_the_file_byte_for_byte(client: Client, rows: Chapter) -> None:
    response = client.get(f"{CHAPTER_URL}files/mean.py")
    assert response.content == (TINY / "rows" / "mean.py").read_bytes()
    assert response["Content-Disposition"] == 'attachment; filename="mean.py"'
    assert response["Content-Type"].startswith("text/plain")


def test_stylesheet_of_formulas_may_be_kept_for_ever(client: Client, rows: Chapter) -> None:
    revision = ChapterRevision.objects.select_related("stylesheet").get(pk=rows.current_revision_id)
    assert revision.stylesheet is not None
    response = client.get(f"/math/{revision.stylesheet.hash}.css")
    assert response["Content-Type"] == "text/css; charset=utf-8"
    assert "immutable" in response["Cache-Control"]
    assert response.content.decode() == revision.stylesheet.css


def test_the_formulas_styles_stand_in_the_page_and_its_policy_knows_them_by_their_text(
    client: Client, rows: Chapter
) -> None:
    response = client.get(CHAPTER_URL)
    found = re.search(r"<style>(.*?)</style>", response.content.decode(), re.DOTALL)
    assert found is not None
    digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
    policy = response["Content-Security-Policy"]
    assert f"style-src 'self' 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    # A browser puts the policy of a 304 in the place of the one that it keeps.
    again = client.get(CHAPTER_URL, headers={"If-None-Match": response["ETag"]})
    assert again.status_code == 304
    assert again.get("Content-Security-Policy", policy) == policy


@pytest.mark.parametrize(
    ("target", "location"),
    [
        (CHAPTER_URL, CHAPTER_URL),
        ("https://elsewhere.example/", "/"),
        ("//elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_theme_is_kept_and_leads_back_on_this_site_only(
    client: Client, db: None, target: str, location: str
) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": target})
    assert (response.status_code, response["Location"]) == (303, location)
    assert client.cookies["theme"].value == "dark"


def test_an_unknown_theme_is_not_kept(client: Client, db: None) -> None:
    client.post("/theme/", {"theme": '"><script>', "next": "/"})
    assert "theme" not in client.cookies
    assert client.get("/theme/").status_code == 405


@pytest.mark.usefixtures("without_panels")
def test_a_step_links_to_its_tests(client: Client, rows: Chapter) -> None:
    address = ["/exercises/rows/#group-sums"]

    def provider(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
        return panels.Panel("404.html", checks=(panels.Check("start", address[0], "the test"),))

    panels.register("chapter", provider)
    for _ in range(2):
        page = client.get(CHAPTER_URL).content.decode()
        step = page[page.index('id="step-start"') : page.index('id="step-divide"')]
        assert f'<a href="{address[0]}">the test</a>' in step
        assert page.count(address[0]) == 1
        # Another address shows at once: what a step links to is part of what is kept.
        address[0] += "-of-all"
        generation.advance()


def test_a_tool_stands_beside_every_listing(
    client: Client, rows: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panels, "_listing_tools", [])
    panels.register_listing_tool("courses/_progress.html")
    page = rows.current_revision.page
    text = render_reading(page, "tiny-course", "rows").text
    assert text.count("<progress") == len(page["listings"]) > 0


@pytest.mark.usefixtures("without_panels")
def test_panels_stand_where_they_were_registered(client: Client, rows: Chapter) -> None:
    def provider(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
        if chapter is not None and chapter.slug != "rows":
            return None
        return panels.Panel("404.html", {"of": chapter}, "A panel", "part-exercises")

    panels.register("chapter", provider)
    panels.register("chapter", provider)
    shown = client.get(CHAPTER_URL).context["panels"]
    assert [(panel.title, panel.context["of"]) for panel in shown] == [("A panel", rows)]
    assert client.get("/courses/tiny-course/columns/").context["panels"] == []
    assert client.get("/dashboard/").context["panels"] == []
    panels.unregister("chapter", provider)
    # A browser of its own: the other's page is kept while nothing is written.
    assert Client().get(CHAPTER_URL).context["panels"] == []


@pytest.mark.parametrize("coding", ["gzip", "br", "identity"])
def test_a_page_is_the_same_under_its_tag_in_any_coding(
    client: Client, rows: Chapter, coding: str
) -> None:
    encoding = {"Accept-Encoding": coding}
    tag = client.get(CHAPTER_URL, headers=encoding)["ETag"]
    suffixed = f'{tag[:-1]}-{coding}"'
    for tags in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        for known in ({"If-None-Match": tags}, {"If-None-Match": tags, "If-Match": tags}):
            answer = client.get(CHAPTER_URL, headers={**encoding, **known})
            assert (answer.status_code, answer.content) == (304, b"")
            assert {"ETag", "Cache-Control", "Vary"} <= set(answer.headers)
        assert client.get(CHAPTER_URL, headers={**encoding, "If-Match": tags}).status_code == 200
    if coding != "identity":
        known = {**encoding, "If-None-Match": suffixed}
        assert client.get(CHAPTER_URL, headers=known).status_code == 304
    for name, status in (("If-Match", 412), ("If-None-Match", 200)):
        other = client.get(CHAPTER_URL, headers={**encoding, name: '"other"'})
        assert other.status_code == status
