"""Progress: requirements, completion kept for good, what lists and dashboard show."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client
from django.test.utils import CaptureQueriesContext

from courses.content.importer import load_course
from courses.models import Chapter, ChapterCompletion, Course, Learner, Question, RequirementMet
from courses.progress.requirements import mark_met
from courses.services import publish_chapter

from .conftest import CHAPTER_URL, RIGHT_ANSWERS, TINY, answer_url

pytestmark = pytest.mark.django_db


def complete_rows(client: Client) -> None:
    for key, data in RIGHT_ANSWERS.items():
        client.post(answer_url(key), data)


def test_every_requirement_is_needed(tiny_course: Course) -> None:
    chapter = Chapter.objects.get(slug="columns")
    learner = Learner.objects.create()
    assert mark_met(learner, chapter, "quiz") is False
    assert not ChapterCompletion.objects.exists()
    assert mark_met(learner, chapter, "exercise:columns") is True
    assert mark_met(learner, chapter, "exercise:columns") is False
    assert ChapterCompletion.objects.count() == 1
    assert RequirementMet.objects.count() == 2


def test_a_requirement_met_early_counts_once_it_is_asked_for(rows: Chapter) -> None:
    learner = Learner.objects.create()
    mark_met(learner, rows, "exercise:mean")
    rows.requirements = ["quiz", "exercise:mean"]
    rows.save()
    assert mark_met(learner, rows, "quiz") is True


def test_a_chapter_without_requirements_is_not_completed_by_accident(rows: Chapter) -> None:
    rows.requirements = []
    rows.save()
    assert mark_met(Learner.objects.create(), rows, "quiz") is False


@pytest.mark.parametrize(
    "edit",
    [
        lambda chapter: chapter.questions.filter(key="which").delete(),
        lambda chapter: chapter.questions.filter(key="root").update(answer="3"),
        lambda chapter: chapter.questions.filter(key="root").update(key="renamed"),
        lambda chapter: Question.objects.create(
            chapter=chapter, key="new", kind="numeric", prompt="?", answer="1", tolerance="0"
        ),
        lambda chapter: Chapter.objects.filter(pk=chapter.pk).update(requirements=["quiz", "more"]),
        lambda chapter: Chapter.objects.filter(pk=chapter.pk).update(intuition="other words"),
    ],
    ids=["deleted", "new key", "renamed", "added", "requirement", "wording"],
)
def test_no_edit_takes_a_completion_away(client: Client, rows: Chapter, edit: object) -> None:
    complete_rows(client)
    edit(rows)  # type: ignore[operator]
    publish_chapter(rows, None)
    assert client.get(CHAPTER_URL).context["completed"]
    assert ChapterCompletion.objects.count() == 1
    entry = client.get("/courses/tiny-course/").context["chapters"][0]
    assert entry.state == "completed"


def test_a_question_added_later_is_shown_beside_the_completion(
    client: Client, rows: Chapter
) -> None:
    complete_rows(client)
    assert not client.get(CHAPTER_URL).context["updated_since_completed"]
    Question.objects.create(
        chapter=rows, key="new", kind="numeric", prompt="?", answer="1", tolerance="0"
    )
    publish_chapter(rows, None)
    context = client.get(CHAPTER_URL).context
    assert context["completed"]
    assert context["updated_since_completed"]
    assert (context["quiz"].done, context["quiz"].total) == (3, 4)


def test_a_chapter_with_progress_cannot_be_deleted(client: Client, rows: Chapter) -> None:
    complete_rows(client)
    with pytest.raises(ProtectedError):
        rows.delete()
    with pytest.raises(ProtectedError):
        rows.course.delete()


def test_lists_show_states_and_counts(client: Client, rows: Chapter) -> None:
    def states() -> list[tuple[str, str, int, int]]:
        chapters = client.get("/courses/tiny-course/").context["chapters"]
        return [(e.chapter.slug, str(e.state), e.done, e.total) for e in chapters]

    assert states() == [("rows", "not started", 0, 3), ("columns", "not started", 0, 1)]
    client.post(answer_url("which"), {"choice": "one"})
    assert states()[0] == ("rows", "in progress", 0, 3)
    client.post(answer_url("which"), {"choice": "two"})
    assert states()[0] == ("rows", "in progress", 1, 3)
    complete_rows(client)
    assert states()[0] == ("rows", "completed", 3, 3)


def test_lists_show_the_published_summary(client: Client, rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(summary="Draft.")
    rows_entry, columns_entry = client.get("/courses/tiny-course/").context["chapters"]
    assert rows_entry.summary_html.startswith("<p>A row has a mean")
    assert columns_entry.summary_html == ""


def test_dashboard_names_the_next_chapter(client: Client, rows: Chapter) -> None:
    entry = client.get("/dashboard/").context["courses"][0]
    assert (entry.done, entry.total, entry.next_chapter.slug) == (0, 2, "rows")
    complete_rows(client)
    entry = client.get("/dashboard/").context["courses"][0]
    assert (entry.done, entry.total, entry.next_chapter.slug) == (1, 2, "columns")
    assert client.get("/").context["featured"].slug == "columns"


def test_a_signed_in_learner_sees_the_same_progress_everywhere(rows: Chapter) -> None:
    user = User.objects.create_user("ada")
    desk, phone = Client(), Client()
    desk.force_login(user)
    phone.force_login(user)
    complete_rows(desk)
    assert phone.get(CHAPTER_URL).context["completed"]


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["/", "/dashboard/", "/courses/tiny-course/"])
def test_queries_do_not_grow_with_chapters_and_attempts(url: str) -> None:
    load_course(TINY)
    client = Client()
    client.force_login(User.objects.create_user("ada"))

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(url).status_code == 200
        return len(queries)

    count()
    few = count()
    course = Course.objects.get()
    revision = Chapter.objects.get(slug="rows").current_revision
    for number in range(12):
        Chapter.objects.create(
            course=course,
            slug=f"more-{number}",
            title=f"More {number}",
            current_revision=revision,
            position=10 + number,
        )
    for value in range(15):
        client.post(answer_url("root"), {"value": str(value)})
    assert count() == few
    assert few <= 9
