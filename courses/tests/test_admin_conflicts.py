"""Edit conflicts: the second save is refused with a reason, and nothing typed is lost."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client

from courses.content.importer import load_course
from courses.models import Chapter, ChapterRevision, Course, Formula, Question

from .admin_forms import change_url, form_data, post, prefix_of, send
from .conftest import TINY, client_of_author


@pytest.fixture
def bo(rows: Chapter) -> Client:
    """Another author."""
    return client_of_author("bo")


def opened(client: Client, row: Any) -> dict[str, Any]:
    return form_data(client.get(change_url(row)))


def refusal(response: Any) -> str:
    assert response.status_code == 200
    return str(response.context["adminform"].form.non_field_errors())


@pytest.mark.django_db
def test_the_second_save_of_a_chapter_is_refused_and_keeps_its_text(
    author: Client, bo: Client, rows: Chapter
) -> None:
    data = opened(author, rows)
    assert post(bo, change_url(rows), intuition="The text of Bo.").status_code == 302
    response = send(author, change_url(rows), data, summary="Typed by the first.")
    said = refusal(response)
    assert "This chapter was changed meanwhile by bo on " in said
    assert f'href="{change_url(rows)}"' in said
    assert "Typed by the first." in response.content.decode()
    rows.refresh_from_db()
    assert (rows.intuition, rows.summary) == ("The text of Bo.", "A row has a mean $\\mu$.\n")
    assert ChapterRevision.objects.filter(chapter=rows).count() == 2


@pytest.mark.django_db
def test_sending_the_refused_form_again_is_refused_again(
    author: Client, bo: Client, rows: Chapter
) -> None:
    data = opened(author, rows)
    post(bo, change_url(rows), intuition="The text of Bo.")
    again = form_data(send(author, change_url(rows), data, title="Mine"))
    assert "changed meanwhile" in refusal(send(author, change_url(rows), again))
    assert "changed meanwhile" in refusal(send(author, change_url(rows), again | {"_save": "1"}))
    assert post(author, change_url(rows), title="Mine").status_code == 302
    rows.refresh_from_db()
    assert (rows.title, rows.intuition) == ("Mine", "The text of Bo.")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "changes"),
    [
        ("root", {"hints-0-feedback": "Other words."}),
        ("which", {"choices-0-feedback": "Other words."}),
        ("which", {"explanation": "Other words."}),
    ],
)
def test_an_edit_of_a_question_refuses_an_older_form_of_its_chapter_and_of_itself(
    author: Client, bo: Client, rows: Chapter, key: str, changes: dict[str, str]
) -> None:
    question = Question.objects.get(key=key)
    of_chapter, of_question = opened(author, rows), opened(author, question)
    assert post(bo, change_url(question), **changes).status_code == 302
    said = refusal(send(author, change_url(rows), of_chapter, title="Mine"))
    assert "This chapter was changed meanwhile by bo" in said
    response = send(author, change_url(question), of_question, prompt="My prompt?")
    assert "This question was changed meanwhile by bo" in refusal(response)
    assert "My prompt?" in response.content.decode()
    question.refresh_from_db()
    assert question.prompt != "My prompt?"


@pytest.mark.django_db
def test_an_edit_of_a_symbol_refuses_an_older_form_of_the_formula(
    author: Client, bo: Client, rows: Chapter
) -> None:
    formula = Formula.objects.get(key="mean")
    data = opened(author, formula)
    assert post(bo, change_url(formula), **{"symbols-1-name": "how many"}).status_code == 302
    response = send(author, change_url(formula), data, title="My mean")
    assert "This formula was changed meanwhile by bo" in refusal(response)
    assert "My mean" in response.content.decode()
    formula.refresh_from_db()
    assert formula.title == "The mean"


@pytest.mark.django_db
def test_other_parts_of_the_chapter_may_be_edited_at_once(
    author: Client, bo: Client, rows: Chapter
) -> None:
    question, formula = Question.objects.get(key="which"), Formula.objects.get(key="mean")
    data = opened(author, question)
    assert post(bo, change_url(formula), title="Bo's mean").status_code == 302
    assert send(author, change_url(question), data, prompt="Mine?").status_code == 302
    page = Chapter.objects.get(pk=rows.pk).current_revision.page  # type: ignore[union-attr]
    assert page["formulas"][0]["title"] == "Bo's mean"
    assert "Mine?" in page["questions"][0]["prompt_html"]


@pytest.mark.django_db
def test_a_part_deleted_meanwhile_keeps_the_typed_text(
    author: Client, bo: Client, rows: Chapter
) -> None:
    page = author.get(change_url(rows))
    first, last = (prefix_of(page, "steps", key) for key in ("start", "divide"))
    changes = {f"{first}-title": "TYPED IN FIRST", f"{last}-title": "TYPED IN LAST"}
    assert post(bo, change_url(rows), **{f"{first}-DELETE": "on"}).status_code == 302
    response = send(author, change_url(rows), form_data(page), **changes)
    assert "changed meanwhile by bo" in refusal(response)
    body = response.content.decode()
    assert "TYPED IN FIRST" in body
    assert "TYPED IN LAST" in body


@pytest.mark.django_db
def test_a_question_deleted_meanwhile_shows_the_typed_text(
    author: Client, bo: Client, rows: Chapter
) -> None:
    question = Question.objects.get(key="root")
    data = opened(author, question)
    url = change_url(question)
    bo.post(url.replace("/change/", "/delete/"), {"post": "yes"})
    response = send(author, url, data, **{"prompt": "My prompt?", "hints-0-feedback": "My hint."})
    assert "This question was deleted meanwhile by bo" in refusal(response)
    assert "My prompt?" in response.content.decode()
    assert "My hint." in response.content.decode()
    assert not Question.objects.filter(key="root").exists()


@pytest.mark.django_db
def test_an_import_and_ones_own_other_tab_are_named_as_such(author: Client, rows: Chapter) -> None:
    data = opened(author, rows)
    post(author, change_url(rows), title="Other tab")
    said = refusal(send(author, change_url(rows), data, title="Mine"))
    assert "by author (you, in another tab or window)" in said
    data = opened(author, rows)
    load_course(TINY, force=True)
    said = refusal(send(author, change_url(rows), data, title="Mine"))
    assert "by a command, such as load_course" in said


@pytest.mark.django_db
def test_unpublishing_meanwhile_is_not_undone(author: Client, bo: Client, rows: Chapter) -> None:
    data = opened(author, rows)
    assert post(bo, change_url(rows), published=None).status_code == 302
    assert "changed meanwhile" in refusal(send(author, change_url(rows), data, title="Mine"))
    assert not Chapter.objects.get(pk=rows.pk).published


@pytest.mark.django_db
def test_a_form_without_its_loaded_state_is_refused(author: Client, rows: Chapter) -> None:
    response = post(author, change_url(rows), title="Mine", loaded_state=None)
    assert "changed meanwhile" in refusal(response)


@pytest.mark.django_db
def test_the_second_save_of_a_course_is_refused(author: Client, bo: Client, rows: Chapter) -> None:
    course = rows.course
    data = opened(author, course)
    moved = {"chapters-0-position": "2", "chapters-1-position": "1"}
    assert post(bo, change_url(course), **moved).status_code == 302
    response = send(author, change_url(course), data, title="My title")
    assert "This course was changed meanwhile by bo" in refusal(response)
    assert Course.objects.get().title != "My title"
    assert post(author, change_url(course), title="My title").status_code == 302
    assert [chapter.slug for chapter in Course.objects.get().chapters.all()] == ["columns", "rows"]


@pytest.mark.django_db
def test_viewers_can_open_the_form(rows: Chapter) -> None:
    user = User.objects.create_user("grader", is_staff=True)
    user.groups.add(Group.objects.get(name="grader"))
    client = Client()
    client.force_login(user)
    for row in (rows, rows.course, Question.objects.get(key="which")):
        assert client.get(change_url(row)).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["chapter", "question"])
def test_of_two_saves_at_once_one_is_refused(kind: str) -> None:
    load_course(TINY)
    row: Any = Chapter.objects.get(slug="rows")
    field = "intuition"
    if kind == "question":
        row, field = Question.objects.get(key="which"), "explanation"
    clients = [client_of_author(name) for name in ("ada", "bo")]
    forms = [opened(client, row) for client in clients]
    barrier = threading.Barrier(2)
    found: list[int] = [0, 0]

    def save(number: int) -> None:
        barrier.wait()
        try:
            text = f"Text {number}"
            response = send(clients[number], change_url(row), forms[number], **{field: text})
            found[number] = response.status_code
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [200, 302]
    row.refresh_from_db()
    assert getattr(row, field) == f"Text {found.index(302)}"
