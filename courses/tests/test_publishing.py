"""Publishing writes one immutable revision, or nothing."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User

from courses import services
from courses.content.errors import ContentError
from courses.models import (
    Chapter,
    ChapterRevision,
    Choice,
    Course,
    Formula,
    ImmutableError,
    Question,
)
from courses.rendering import RenderError

pytestmark = pytest.mark.django_db


def test_nothing_is_written_when_nothing_changed(rows: Chapter) -> None:
    before = ChapterRevision.objects.count()
    revision = services.publish_chapter(rows, None)
    assert revision == rows.current_revision
    assert ChapterRevision.objects.count() == before


def test_an_edit_makes_the_next_revision_and_keeps_the_last(rows: Chapter) -> None:
    author = User.objects.create_user("author")
    old = rows.current_revision
    assert old is not None
    Chapter.objects.filter(pk=rows.pk).update(title="Rows again")
    new = services.publish_chapter(rows, author)
    assert (new.number, new.created_by) == (old.number + 1, author)
    assert new.page["title"] == "Rows again"
    assert ChapterRevision.objects.get(pk=old.pk).page["title"] == "Rows"
    assert Chapter.objects.get(pk=rows.pk).current_revision == new


def test_all_mistakes_are_reported_at_once_with_their_places(rows: Chapter) -> None:
    Formula.objects.filter(key="mean").update(tex="a\n\\frac{1}{")
    Choice.objects.filter(key="two").update(feedback="$x")
    Chapter.objects.filter(pk=rows.pk).update(intuition="ok\n\n$\\nosuch$")
    before = ChapterRevision.objects.count()
    with pytest.raises(ContentError) as caught:
        services.publish_chapter(rows, None)
    errors = caught.value.errors
    assert set(errors) == {
        "intuition",
        "formulas/mean/tex",
        "questions/which/choices/two/feedback",
    }
    assert errors["formulas/mean/tex"][0].line == 2
    assert (errors["intuition"][0].line, errors["intuition"][0].column) == (3, 2)
    assert "^" in errors["intuition"][0].excerpt
    assert ChapterRevision.objects.count() == before


def test_the_page_tells_no_answers(rows: Chapter) -> None:
    revision = rows.current_revision
    assert revision is not None
    page = json.dumps(revision.page)
    for secret in ("correct", "Six thirds", "That is the smallest", "2.738612788", "Take the"):
        assert secret not in page
    assert revision.answers["which"]["choices"]["two"]["correct"] is True
    assert revision.answers["root"]["answer"] == "2.738612788"


def test_the_page_has_anchors_labels_and_headings(rows: Chapter) -> None:
    assert rows.current_revision is not None
    page = rows.current_revision.page
    assert 'id="line-total"' in page["listings"][0]["html"]
    assert 'aria-label="mu is the sum over x i divided by D"' in page["formulas"][0]["html"]
    assert [heading["id"] for heading in page["headings"]] == [
        "part-intuition",
        "part-formulas",
        "part-derivation",
        "part-mechanism",
        "part-code",
        "part-quiz",
        "part-summary",
        "part-references",
    ]


def test_chapters_with_the_same_formulas_share_a_stylesheet(rows: Chapter) -> None:
    first = rows.current_revision
    assert first is not None
    assert first.stylesheet is not None
    Chapter.objects.filter(pk=rows.pk).update(title="Other")
    assert services.publish_chapter(rows, None).stylesheet == first.stylesheet


def test_a_revision_cannot_be_saved_again(rows: Chapter) -> None:
    assert rows.current_revision is not None
    rows.current_revision.page = {}
    with pytest.raises(ImmutableError, match="never changed"):
        rows.current_revision.save()


def test_wording_leaves_a_questions_version_and_the_key_changes_it(rows: Chapter) -> None:
    assert rows.current_revision is not None
    before = rows.current_revision.question_versions
    Question.objects.filter(chapter=rows).update(prompt="Said better")
    Choice.objects.filter(question__chapter=rows).update(text="$7$", feedback="other words")
    assert services.publish_chapter(rows, None).question_versions == before
    Choice.objects.filter(question__chapter=rows, key="one").update(correct=True)
    Choice.objects.filter(question__chapter=rows, key="two").update(correct=False)
    after = services.publish_chapter(rows, None).question_versions
    assert {key for key in after if after[key] != before[key]} == {"which"}


def test_a_draft_needs_no_question_for_its_quiz_but_a_published_chapter_does(rows: Chapter) -> None:
    rows.questions.all().delete()
    services.check_chapter(rows)
    with pytest.raises(ContentError, match="has no question"):
        services.publish_chapter(rows, None)


def test_a_broken_renderer_publishes_nothing(
    rows: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(sources: object) -> None:
        raise RenderError("The formula engine did not start.")

    monkeypatch.setattr("courses.publishing.builder.render_all", fail)
    Chapter.objects.filter(pk=rows.pk).update(title="Other")
    with pytest.raises(RenderError):
        services.publish_chapter(rows, None)
    assert ChapterRevision.objects.filter(chapter=rows).count() == 1


def test_pages_of_an_older_renderer_are_published_again_whoever_wrote_them(
    rows: Chapter, tiny_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = Chapter.objects.get(slug="columns")
    assert services.publish_outdated() == {}
    before = {one.pk: one.current_revision_id for one in (rows, columns)}
    Chapter.objects.filter(pk=columns.pk).update(intuition="Broken: $\\frac$.")
    monkeypatch.setattr("courses.services.BUILD_VERSION", 10**6)
    refused = services.publish_outdated()
    assert list(refused) == ["columns"]
    assert "argument" in refused["columns"] or "needs" in refused["columns"]
    after = {one.pk: one.current_revision_id for one in Chapter.objects.all()}
    assert after[columns.pk] == before[columns.pk]
    assert after[rows.pk] != before[rows.pk]
    # No page is left for the next start to render again but the one that was refused.
    assert list(services.publish_outdated()) == ["columns"]
