"""The admin's forms: a valid edit publishes, a mistake is reported at its field, all or nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from courses.models import Chapter, ChapterRevision, Choice, Formula, Listing, Question
from courses.rendering import RenderError

from .admin_forms import change_url, errors_at, post, prefix_of
from .conftest import CHAPTER_URL

pytestmark = pytest.mark.django_db


def test_saving_without_a_change_publishes_nothing(author: Client, rows: Chapter) -> None:
    """Also a check that forms keep texts exactly: line ends, tabs, indentation."""
    response = post(author, change_url(rows))
    assert response.status_code == 302
    assert ChapterRevision.objects.filter(chapter=rows).count() == 1


def test_a_good_edit_publishes_and_the_page_shows_it(author: Client, rows: Chapter) -> None:
    response = post(author, change_url(rows), intuition="Now with $\\sqrt{x}$.\r\nTwo lines.")
    assert response.status_code == 302
    rows.refresh_from_db()
    assert rows.intuition == "Now with $\\sqrt{x}$.\nTwo lines."
    revision = ChapterRevision.objects.get(chapter=rows, number=2)
    assert rows.current_revision == revision
    assert revision.created_by is not None
    assert revision.created_by.username == "author"
    assert "Two lines." in Client().get(CHAPTER_URL).content.decode()
    assert rows.history.first().history_user.username == "author"
    assert LogEntry.objects.count() == 1


def test_a_mistake_in_markdown_is_refused_with_line_column_and_caret(
    author: Client, rows: Chapter
) -> None:
    before = Client().get(CHAPTER_URL).context["page"]
    response = post(author, change_url(rows), intuition="Fine.\r\n\r\nNot $\\frac{1}{$ fine.")
    assert response.status_code == 200
    found = response.context["adminform"].form.errors["intuition"]
    assert re.match(r"Line 3, column \d+: ", found[0])
    assert '<pre translate="no">Not $\\frac{1}{$ fine.\n' in found[0]
    assert "^</pre>" in found[0]
    assert found[0] in response.content.decode()
    rows.refresh_from_db()
    assert rows.intuition.startswith("First paragraph")
    assert Client().get(CHAPTER_URL).context["page"] == before
    assert ChapterRevision.objects.filter(chapter=rows).count() == 1
    assert not LogEntry.objects.exists()
    assert rows.history.count() == 1
    assert "Not $\\frac{1}{$ fine." in response.content.decode()


def test_a_mistake_in_an_inline_is_at_its_row_and_field(author: Client, rows: Chapter) -> None:
    url = change_url(rows)
    prefix = prefix_of(author.get(url), "formulas", "square")
    response = post(author, url, **{f"{prefix}-tex": "x^2\r\n\\nosuch", "title": "Not saved"})
    assert response.status_code == 200
    errors = errors_at(response, "formulas", prefix)
    assert set(errors) == {"tex"}
    assert errors["tex"][0].startswith("Line 2, column 1: ")
    assert "formulas/square/tex, line 2" in str(response.context["adminform"].form.errors)
    rows.refresh_from_db()
    assert rows.title == "Rows"
    assert Formula.objects.get(key="square").tex == "x^2"


def test_all_mistakes_of_all_parts_are_shown_at_once(author: Client, rows: Chapter) -> None:
    url = change_url(rows)
    page = author.get(url)
    step = prefix_of(page, "steps", "divide")
    question = prefix_of(page, "questions", "which")
    response = post(
        author,
        url,
        summary="$",
        **{f"{step}-reason": "$\\x$", f"{step}-formula": "median", f"{question}-prompt": "$a"},
    )
    assert set(errors_at(response, "steps", step)) == {"reason", "formula"}
    assert set(errors_at(response, "questions", question)) == {"prompt"}


def test_a_new_part_with_a_mistake_is_refused_at_its_row(author: Client, rows: Chapter) -> None:
    row = {"key": "new", "title": "New", "tex": "{", "position": ""}
    changes = {f"formulas-2-{name}": value for name, value in row.items()}
    response = post(author, change_url(rows), **changes, **{"formulas-TOTAL_FORMS": "3"})
    assert set(errors_at(response, "formulas", "formulas-2")) == {"tex"}
    assert not Formula.objects.filter(key="new").exists()
    changes["formulas-2-tex"] = "y"
    response = post(author, change_url(rows), **changes, **{"formulas-TOTAL_FORMS": "3"})
    assert response.status_code == 302
    assert Formula.objects.get(key="new").position == 3


def test_a_deleted_formula_that_a_step_names_is_refused(author: Client, rows: Chapter) -> None:
    url = change_url(rows)
    prefix = prefix_of(author.get(url), "formulas", "mean")
    response = post(author, url, **{f"{prefix}-DELETE": "on"})
    assert response.status_code == 200
    assert "No formula of this chapter has the key" in response.content.decode()
    assert Formula.objects.filter(key="mean").exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("total 40", "mean.py has 5 lines"),
        ("total", "a name, a space and a line number"),
        ("total four", "a name, a space and a line number"),
        ("total 0", "a name, a space and a line number"),
        ("The-Total 4", "becomes part of a link"),
        ("total 4\r\nmean 4", "named twice"),
        ("total 4\r\ntotal 5", "used twice"),
        ("mean 5", "names a line “total”"),
    ],
)
def test_named_lines_are_checked(author: Client, rows: Chapter, lines: str, said: str) -> None:
    response = post(author, change_url(rows), **{"listings-0-lines": lines})
    assert response.status_code == 200
    assert said in response.content.decode()
    assert Listing.objects.get(filename="mean.py").lines[0] == {"key": "total", "line": 4}


def test_named_lines_are_saved(author: Client, rows: Chapter) -> None:
    lines = "total 4\r\n\r\nvalues 3\r\n"
    assert post(author, change_url(rows), **{"listings-0-lines": lines}).status_code == 302
    assert Listing.objects.get(filename="mean.py").lines == [
        {"key": "total", "line": 4},
        {"key": "values", "line": 3},
    ]
    assert 'id="line-values"' in Client().get(CHAPTER_URL).content.decode()


def test_requirements_are_names_separated_by_spaces(author: Client, rows: Chapter) -> None:
    url = change_url(rows)
    assert 'value="quiz"' in author.get(url).content.decode()
    assert post(author, url, requirements="quiz, exercise:rmsnorm").status_code == 302
    rows.refresh_from_db()
    assert rows.requirements == ["quiz", "exercise:rmsnorm"]
    assert "is no name of a requirement" in post(author, url, requirements="a/b").content.decode()


def test_a_draft_is_checked_but_not_published(author: Client, rows: Chapter) -> None:
    Chapter.objects.filter(pk=rows.pk).update(published=False)
    assert post(author, change_url(rows), intuition="$\\nosuch$").status_code == 200
    assert post(author, change_url(rows), intuition="Draft").status_code == 302
    assert ChapterRevision.objects.filter(chapter=rows).count() == 1
    assert post(author, change_url(rows), published="on").status_code == 302
    assert "Draft" in Client().get(CHAPTER_URL).content.decode()


def test_a_new_chapter_goes_to_the_end_of_its_course(author: Client, rows: Chapter) -> None:
    response = post(
        author,
        reverse("admin:courses_chapter_add"),
        course=str(rows.course_id),
        slug="third",
        title="Third",
        minutes="9",
        intuition="Something.",
    )
    assert response.status_code == 302
    third = Chapter.objects.get(slug="third")
    assert third.position == 3
    assert Client().get("/courses/tiny-course/third/").status_code == 404
    assert post(author, change_url(third), published="on").status_code == 302
    body = Client().get("/courses/tiny-course/third/").content.decode()
    assert "Something." in body
    # It has no formulas, and so no list of symbols to go to.
    assert "part-symbols" not in body


def test_revisions_can_be_read_and_not_changed(author: Client, rows: Chapter) -> None:
    page = author.get(change_url(rows)).content.decode()
    revision = rows.current_revision
    assert change_url(revision) in page
    response = author.get(change_url(revision))
    assert response.status_code == 200
    assert author.post(change_url(revision), {"number": "9"}).status_code == 403


def test_the_old_state_of_a_chapter_cannot_be_saved_past_publishing(
    author: Client, rows: Chapter
) -> None:
    version = rows.history.first()
    url = reverse("admin:courses_chapter_simple_history", args=[rows.pk, version.history_id])
    assert author.get(url).status_code == 200
    assert author.post(url, {"title": "Past"}).status_code == 405


def test_a_failing_renderer_is_reported_and_saves_nothing(
    author: Client, rows: Chapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(sources: object) -> None:
        raise RenderError("The formula engine did not start.")

    monkeypatch.setattr("courses.publishing.builder.render_all", fail)
    response = post(author, change_url(rows), title="Not saved")
    assert response.status_code == 200
    assert "The formula engine did not start." in response.content.decode()
    rows.refresh_from_db()
    assert rows.title == "Rows"


def test_an_error_cannot_bring_markup_into_the_form(author: Client, rows: Chapter) -> None:
    response = post(author, change_url(rows), intuition="$\\frac{<script>alert(1)</script>$")
    assert "<script>alert(1)" not in response.content.decode()


def test_a_question_is_added_with_its_choices_and_published(author: Client, rows: Chapter) -> None:
    data = {
        "chapter": str(rows.pk),
        "key": "new",
        "kind": "single",
        "prompt": "Which?",
        "choices-TOTAL_FORMS": "2",
    }
    for place, (key, correct) in enumerate([("a", "on"), ("b", None)]):
        data |= {f"choices-{place}-key": key, f"choices-{place}-text": f"Text {key}"}
        data[f"choices-{place}-correct"] = correct  # type: ignore[assignment]
    assert post(author, reverse("admin:courses_question_add"), **data).status_code == 302
    question = Question.objects.get(key="new")
    assert question.position == 4
    assert [choice.position for choice in question.choices.all()] == [1, 2]
    assert Client().get(CHAPTER_URL).context["quiz"].total == 4


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": ""}, "A question of this kind needs its answer."),
        ({"answer": "three"}, "cannot be read as a number"),
        ({"tolerance": "-1"}, "at least 0"),
        ({"kind": "single"}, "needs an answer and a tolerance; the other kinds"),
        ({"kind": "single", "answer": "", "tolerance": ""}, "at least 2 choices"),
        ({"hints-0-feedback": "$"}, "Line 1, column 1"),
        ({"hints-1-value": "2.7386"}, "would never be shown"),
    ],
)
def test_a_numeric_question_is_checked(
    author: Client, rows: Chapter, changes: dict[str, str], said: str
) -> None:
    question = Question.objects.get(key="root")
    response = post(author, change_url(question), **changes)
    assert response.status_code == 200
    assert said in response.content.decode()
    question.refresh_from_db()
    assert (question.kind, question.answer) == ("numeric", "2.738612788")
    assert question.hints.count() == 2


def test_a_mistake_in_a_hint_or_choice_is_at_its_row(author: Client, rows: Chapter) -> None:
    root, which = Question.objects.get(key="root"), Question.objects.get(key="which")
    response = post(author, change_url(root), **{"hints-1-feedback": "$\\x$"})
    assert set(errors_at(response, "hints", "hints-1")) == {"feedback"}
    assert errors_at(response, "hints", "hints-0") == {}
    prefix = prefix_of(author.get(change_url(which)), "choices", "three")
    response = post(author, change_url(which), **{f"{prefix}-text": "a\r\n$\\x$"})
    assert errors_at(response, "choices", prefix)["text"][0].startswith("Line 2, column 2: ")
    assert Choice.objects.get(key="three").text == "$3$"


def test_a_mistake_in_a_symbol_is_at_its_row(author: Client, rows: Chapter) -> None:
    formula = Formula.objects.get(key="mean")
    response = post(author, change_url(formula), **{"symbols-1-tex": "\\x"})
    assert set(errors_at(response, "symbols", "symbols-1")) == {"tex"}
    response = post(author, change_url(formula), **{"symbols-1-tex": "M"})
    assert response.status_code == 302
    page = Client().get(CHAPTER_URL).context["page"]
    assert page["formulas"][0]["symbols"][1]["tex"] == "M"


def test_the_other_kinds_rows_go_when_a_kind_changes(author: Client, rows: Chapter) -> None:
    question = Question.objects.get(key="which")
    changes = {"kind": "numeric", "answer": "2", "tolerance": "0"}
    assert post(author, change_url(question), **changes).status_code == 302
    assert not question.choices.exists()
    quiz = Client().get(CHAPTER_URL).context["quiz"]
    assert quiz.item("which").question["kind"] == "numeric"


def test_deleting_a_question_publishes(author: Client, rows: Chapter) -> None:
    url = reverse("admin:courses_question_delete", args=[Question.objects.get(key="root").pk])
    assert author.post(url, {"post": "yes"}).status_code == 302
    assert Client().get(CHAPTER_URL).context["quiz"].total == 2


def test_deleting_a_needed_part_is_refused_with_a_reason(author: Client, rows: Chapter) -> None:
    formula = Formula.objects.get(key="mean")
    url = reverse("admin:courses_formula_delete", args=[formula.pk])
    response = author.post(url, {"post": "yes"}, follow=True)
    assert "Nothing was deleted" in response.content.decode()
    assert Formula.objects.filter(pk=formula.pk).exists()


def test_order_of_chapters_is_set_on_the_course(author: Client, rows: Chapter) -> None:
    response = post(
        author,
        change_url(rows.course),
        **{"chapters-0-position": "2", "chapters-1-position": "1"},
    )
    assert response.status_code == 302
    entries = Client().get("/courses/tiny-course/").context["chapters"]
    assert [entry.chapter.slug for entry in entries] == ["columns", "rows"]


@pytest.mark.parametrize("model", [Chapter, Formula, Question, ChapterRevision])
def test_lists_of_the_admin_open(author: Client, rows: Chapter, model: Any) -> None:
    url = reverse(f"admin:courses_{model._meta.model_name}_changelist")
    assert author.get(url).status_code == 200


def test_pages_of_the_admin_bring_no_inline_scripts_or_styles(
    author: Client, rows: Chapter
) -> None:
    question = Question.objects.get(key="which")
    for url in (change_url(rows), change_url(rows.course), change_url(question)):
        body = author.get(url).content.decode()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=", body)
        for attributes in re.findall(r"<script([^>]*)>", body):
            assert "src=" in attributes or "application/json" in attributes


def test_learners_may_not_open_the_forms(rows: Chapter) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    assert client.get(change_url(rows)).status_code == 302


def test_the_admin_names_its_icon(author: Client, rows: Chapter) -> None:
    """Else browsers ask for /favicon.ico, which is not there."""
    for url in (reverse("admin:index"), change_url(rows)):
        assert re.search(
            r'<link rel="icon" href="[^"]+favicon\.svg"', author.get(url).content.decode()
        )
