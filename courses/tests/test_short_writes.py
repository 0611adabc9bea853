"""Saving in the admin locks the database only while writing; concurrent saves win."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from courses import saving
from courses.content.importer import load_course
from courses.models import Chapter, ChapterRevision, DerivationStep, Formula, FormulaSymbol
from courses.saving import Renderings, saved
from courses.services import publish_or_check

from .admin_forms import change_url, form_data, post, send

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

WRITES = ("INSERT", "UPDATE", "DELETE")


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Do something once, while the chapter is rendered."""

    def arrange(act: Callable[[], Any]) -> None:
        left = [act]
        build = saving.build

        def build_and_act(*args: Any) -> Any:
            if left:
                left.pop()()
            return build(*args)

        monkeypatch.setattr(saving, "build", build_and_act)

    return arrange


def test_nothing_is_written_while_the_chapter_is_rendered(
    author: Client, rows: Chapter, between: Callable[..., None]
) -> None:
    seen: list[tuple[str, int]] = []

    def look() -> None:
        seen.append((Chapter.objects.get(pk=rows.pk).title, rows.history.count()))

    between(look)
    assert post(author, change_url(rows), title="New").status_code == 302
    assert seen == [("Rows", 1)]
    assert Chapter.objects.get(pk=rows.pk).title == "New"


def test_a_save_during_the_rendering_of_another_wins_and_the_other_is_refused(
    author: Client, rows: Chapter, between: Callable[..., None]
) -> None:
    between(lambda: Chapter.objects.filter(pk=rows.pk).update(summary="The other's."))
    response = post(author, change_url(rows), title="Mine")
    assert response.status_code == 200
    assert "changed meanwhile" in str(response.context["adminform"].form.non_field_errors())
    rows.refresh_from_db()
    assert (rows.title, rows.summary) == ("Rows", "The other's.")


def test_a_concurrent_change_of_another_part_is_rendered_too(
    author: Client, rows: Chapter, between: Callable[..., None]
) -> None:
    formula = Formula.objects.get(key="mean")
    between(lambda: Chapter.objects.filter(pk=rows.pk).update(intuition="The other's."))
    assert post(author, change_url(formula), title="Mine").status_code == 302
    page = ChapterRevision.objects.filter(chapter=rows).latest("number").page
    assert page["formulas"][0]["title"] == "Mine"
    assert "The other's." in str(page)


def test_a_chapter_that_never_stands_still_is_said_to_and_not_saved(rows: Chapter) -> None:
    tries: list[int] = []

    def save(renderings: Renderings) -> None:
        tries.append(1)
        Chapter.objects.filter(pk=rows.pk).update(intuition=f"Changed {len(tries)} times.")
        publish_or_check(rows, None, renderings)

    with pytest.raises(saving.RenderError, match="each time"):
        saved(save)
    assert len(tries) == saving.MAX_TRIES
    assert "Changed" not in Chapter.objects.get(pk=rows.pk).intuition


def test_a_name_taken_after_the_check_is_refused_at_its_field(
    author: Client, rows: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    validate = Chapter.validate_unique

    def validate_and_lose(chapter: Chapter, exclude: Any = None) -> None:
        validate(chapter, exclude)
        Chapter.objects.get_or_create(slug="third", defaults={"course": rows.course, "title": "T"})

    monkeypatch.setattr(Chapter, "validate_unique", validate_and_lose)
    data = {"course": str(rows.course_id), "slug": "third", "title": "Mine", "minutes": "9"}
    response = post(author, reverse("admin:courses_chapter_add"), **data)
    assert response.status_code == 200
    assert "already exists" in str(response.context["adminform"].form.errors["slug"])
    assert "Mine" in response.content.decode()


def many_steps(chapter: Chapter, number: int) -> None:
    DerivationStep.objects.bulk_create(
        DerivationStep(chapter=chapter, key=f"s-{n}", title="S", tex="x", position=n + 10)
        for n in range(number)
    )


def written(context: CaptureQueriesContext) -> int:
    return sum(query["sql"].startswith(WRITES) for query in context.captured_queries)


def test_dragging_many_rows_takes_few_statements_and_keeps_their_histories(
    author: Client, rows: Chapter
) -> None:
    many_steps(rows, 40)
    data = form_data(author.get(change_url(rows)))
    steps = list(rows.steps.all())
    moved = {f"steps-{n}-position": str(100 - n) for n in range(len(steps))}
    with CaptureQueriesContext(
        connection,
    ) as context:
        assert send(author, change_url(rows), data, **moved).status_code == 302
    # Two tries, the second with the page rendered.
    assert written(context) < 30
    assert list(rows.steps.all()) == steps[::-1]
    last = steps[0].history.latest()
    assert (last.history_type, last.position) == ("~", 100)
    assert last.history_user.username == "author"


def test_deleting_a_long_chapter_takes_few_statements_and_keeps_the_histories(
    author: Client, rows: Chapter
) -> None:
    many_steps(rows, 40)
    url = reverse("admin:courses_chapter_delete", args=[rows.pk])
    with CaptureQueriesContext(connection) as context:
        assert author.post(url, {"post": "yes"}).status_code == 302
    assert written(context) < 60
    assert not Chapter.objects.filter(pk=rows.pk).exists()
    for model in (DerivationStep, Formula, FormulaSymbol):
        assert not model.objects.filter().exists()
    assert DerivationStep.history.filter(history_type="-").count() == 42
    assert FormulaSymbol.history.filter(history_type="-").exists()


def test_importing_many_rows_takes_few_statements(course_files: Any, rows: Chapter) -> None:
    file = course_files / "rows" / "chapter.yaml"
    steps = "".join(f"- key: s-{n}\n  title: S\n  tex: x\n  reason: ''\n" for n in range(40))
    text = file.read_text()
    assert "steps:\n" in text
    file.write_text(text.replace("steps:\n", f"steps:\n{steps}", 1))
    with CaptureQueriesContext(connection) as context:
        assert not load_course(course_files).failed
    assert written(context) < 20
    assert DerivationStep.objects.filter(key__startswith="s-").count() == 40
    assert DerivationStep.history.filter(key="s-7").latest().history_change_reason
