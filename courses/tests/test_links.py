"""Links must resolve: saving, importing and checking report those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from courses import services
from courses.content.errors import ContentError
from courses.content.importer import load_course
from courses.management.commands.check_course import check_course
from courses.models import Chapter, Choice, DerivationStep, Formula, Listing, Question

from .admin_forms import change_url, errors_at, post, prefix_of

ALL_KINDS = (
    "[f](#formula-mean) [s](#step-start) [l](#line-total) [q](#question-root) "
    "[m](#mechanism-adding) [p](#part-quiz) [e](#part-exercises) [own](#my-heading) [t](#top)\n\n"
    "### My heading\n\nA note[^1] and [here](/courses/tiny-course/rows/#step-divide).\n\n"
    "[^1]: It.\n"
)


def errors_of(rows: Chapter, **texts: str) -> dict[str, Any]:
    Chapter.objects.filter(pk=rows.pk).update(**texts)
    with pytest.raises(ContentError) as caught:
        services.check_chapter(rows)
    return caught.value.errors


@pytest.mark.django_db
def test_links_to_anchors_of_the_page_are_fine(rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(intuition=ALL_KINDS, summary_text="[x](#my-heading)")
    services.check_chapter(rows)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "target",
    [
        *("formula-median", "step-result", "line-sum", "question-why", "mechanism-x"),
        *("part-nosuch", "stpe-start", "/courses/tiny-course/rows/#step-result"),
    ],
)
def test_a_dead_link_is_reported_with_field_position_and_target(rows: Chapter, target: str) -> None:
    link = target if target.startswith("/") else f"#{target}"
    errors = errors_of(rows, intuition=f"Fine.\n\nSee [it]({link}) now.")
    assert set(errors) == {"intuition"}
    (error,) = errors["intuition"]
    assert error.line == 3
    assert f"#{target.split('#')[-1]}”" in error.message
    assert "See [it](" in error.excerpt


@pytest.mark.django_db
def test_the_places_that_there_are_are_named(rows: Chapter) -> None:
    errors = errors_of(rows, intuition="[it](#step-result)")
    assert "There are: #step-start, #step-divide." in errors["intuition"][0].message


@pytest.mark.django_db
def test_a_heading_that_shows_after_an_answer_is_no_place_for_others(rows: Chapter) -> None:
    Choice.objects.filter(key="two").update(feedback="### Why\n\n[above](#why)")
    services.check_chapter(rows)
    assert set(errors_of(rows, intuition="[it](#why)")) == {"intuition"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("model", "found", "formset", "link"),
    [
        (DerivationStep, {"key": "divide"}, "steps", "step-divide"),
        (Formula, {"key": "square"}, "formulas", "formula-square"),
        (Question, {"key": "which"}, "questions", "question-which"),
    ],
)
def test_deleting_a_part_that_a_text_links_to_is_refused_at_that_text(
    author: Client, rows: Chapter, model: Any, found: dict[str, str], formset: str, link: str
) -> None:
    Question.objects.filter(key="root").update(explanation=f"See [there](#{link}).")
    url = change_url(rows)
    page = author.get(url)
    row = prefix_of(page, formset, found["key"])
    response = post(author, url, **{f"{row}-DELETE": "on"})
    assert response.status_code == 200
    at_question = errors_at(response, "questions", prefix_of(page, "questions", "root"))
    assert f"leads to “#{link}”" in at_question["explanation"][0]
    assert model.objects.filter(**found).exists()


@pytest.mark.django_db
def test_a_named_line_that_a_text_links_to_cannot_be_renamed(author: Client, rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(summary="See [it](#line-mean).")
    response = post(author, change_url(rows), **{"listings-0-lines": "total 4"})
    assert "leads to “#line-mean”" in response.content.decode()
    assert len(Listing.objects.get(filename="mean.py").lines) == 2


@pytest.mark.django_db
def test_deleting_a_question_on_its_own_page_is_refused_in_words(
    author: Client, rows: Chapter
) -> None:
    Chapter.objects.filter(pk=rows.pk).update(summary="See [it](#question-root).")
    url = reverse("admin:courses_question_delete", args=[Question.objects.get(key="root").pk])
    said = author.post(url, {"post": "yes"}, follow=True).content.decode()
    assert "Nothing was deleted" in said
    assert "#question-root" in said
    assert Question.objects.filter(key="root").exists()


@pytest.mark.django_db
def test_files_with_a_dead_link_are_refused_by_import_and_check(course_files: Path) -> None:
    path = course_files / "rows" / "chapter.yaml"
    path.write_text(
        path.read_text().replace("because there are", "as [seen](#step-result) there are")
    )
    for said in (
        load_course(course_files).failed[0].message,
        "\n".join(check_course(course_files)),
    ):
        assert "steps/divide/reason, line 1, column 11: This link leads to “#step-result”" in said
    assert not Chapter.objects.filter(slug="rows").exists()


# --- to other pages --------------------------------------------------------------------------

FINE_ELSEWHERE = (
    "[course](/courses/tiny-course/) [chapter](/courses/tiny-course/columns/) [up](../) "
    "[next](../columns/) [slash](../columns) [place](../columns/#part-intuition) "
    "[file](/courses/tiny-course/rows/files/mean.py) [home](/) [search](/search/?q=a) "
    "[own](/courses/tiny-course/rows/#step-divide) <https://example.org/nowhere> [m](mailto:a@b.c) "
    "[css](/static/css/site.css) ![mark](/static/img/favicon.svg)"
)


@pytest.mark.django_db
def test_links_to_other_pages_that_there_are_are_fine(rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(intuition=FINE_ELSEWHERE)
    services.check_chapter(rows)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/courses/no-course/", "no page"),
        ("/courses/tiny-course/no-chapter/", "no page"),
        ("../no-chapter/", "no page"),
        ("/courses/other/rows/", "no page"),
        ("/no/such/page", "no page"),
        ("chapter.html", "no page"),
        ("/exercises/no-exercise/", "no page"),
        ("/courses/tiny-course/columns/#formula-nowhere", "no place “#formula-nowhere”"),
        ("../columns/#no-heading", "no place “#no-heading”"),
        ("/courses/tiny-course/rows/files/no.py", "no listing no.py"),
        ("/static/css/no.css", "no file"),
        ("/static/../learnml/settings/base.py", "no page"),
    ],
)
def test_a_link_to_a_missing_page_is_reported_with_its_position(
    rows: Chapter, address: str, words: str
) -> None:
    errors = errors_of(rows, intuition=f"Fine.\n\n- See [it]({address}) now.")
    (error,) = errors["intuition"]
    assert (error.line, error.column) == (3, 12)
    assert words in error.message


@pytest.mark.django_db
@pytest.mark.parametrize(
    "picture",
    [
        "![fig](/static/nowhere.png)",
        "![fig](/courses/tiny-course/)",
        '<img alt="fig" src="/static/nowhere.png">',
        "![fig][1]\n\n[1]: /static/nowhere.png",
    ],
)
def test_a_picture_that_is_not_there_is_found_and_no_upload_is_promised(
    rows: Chapter, picture: str
) -> None:
    (error,) = errors_of(rows, intuition=f"Fine.\n\n{picture}")["intuition"]
    assert error.line == 3
    assert "no picture" in error.message
    assert "pload" not in error.message


@pytest.mark.django_db
def test_mistakes_of_one_text_are_told_from_its_beginning_to_its_end(rows: Chapter) -> None:
    """Whoever found them: what is typeset and what is linked are judged one after the other."""
    text = "[it](/courses/no-course/)\n\n$\\foo$\n\n[it](#step-nowhere)\n\n$\\foo$"
    errors = errors_of(rows, intuition=text)
    assert [error.line for error in errors["intuition"]] == [1, 3, 5, 7]


@pytest.mark.django_db
def test_files_may_link_to_chapters_that_come_after_them(course_files: Path) -> None:
    path = course_files / "rows" / "chapter.yaml"
    text = path.read_text()
    path.write_text(text.replace("because there are", "as [later](../columns/#part-intuition)"))
    assert not load_course(course_files).failed
    assert check_course(course_files) == []
    path.write_text(text.replace("because there are", "as [later](../columns/#step-nowhere)"))
    for said in (
        load_course(course_files).failed[0].message,
        "\n".join(check_course(course_files)),
    ):
        assert "no place “#step-nowhere”" in said
