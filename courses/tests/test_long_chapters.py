"""Chapters as long as files may be can be edited in the admin; longer ones are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.admin.sites import site
from django.contrib.auth.models import User
from django.forms import ModelForm
from django.forms.models import model_to_dict
from django.test import Client, RequestFactory

from courses.admin.forms import ChapterForm
from courses.admin.inlines import PartInlineMixin
from courses.content import files
from courses.content.importer import load_course
from courses.content.limits import exceeded_limits
from courses.content.schema import (
    MAX_PARTS,
    MAX_TEXT_CHARACTERS,
    ChapterContent,
)
from courses.editing import state_of
from courses.models import Chapter

from .admin_forms import change_url, post
from .conftest import client_of_author

CHINESE = "归一化数" * 12_500
TEXTS = ("intuition", "formulas_intro", "derivation_intro", "mechanism_intro")


def content(steps: int, formulas: int, **texts: str) -> ChapterContent:
    return ChapterContent.model_validate(
        {
            "slug": "long",
            "title": "Long",
            "minutes": 30,
            **texts,
            "formulas": [
                {"key": f"f-{n}", "title": f"Formula {n}", "tex": "x"} for n in range(formulas)
            ],
            "steps": [{"key": f"s-{n}", "title": f"Step {n}", "tex": "x"} for n in range(steps)],
        }
    )


def write(folder: Path, chapter: ChapterContent) -> Path:
    """Write a course of one chapter to files; return its folder."""
    course = folder / "long-course"
    (course / chapter.slug).mkdir(parents=True)
    (course / "course.yaml").write_text(
        f"slug: long-course\ntitle: Long\nsummary: ''\nchapters:\n- {chapter.slug}\n"
    )
    for name, data in files.chapter_files(chapter).items():
        (course / chapter.slug / name).write_bytes(data)
    return course


def form_of(chapter: Chapter, user: User) -> dict[str, str]:
    """Return what a browser posts from the form of a chapter, without having it drawn: that takes
    seconds for a long one.
    """
    request: Any = RequestFactory().get("/")
    request.user = user
    admin = site.get_model_admin(Chapter)
    form = admin.get_form(request, chapter, change=True)(instance=chapter)
    data = _values(form, "")
    for inline in admin.get_inline_instances(request, chapter):
        prefix = inline.get_formset(request, chapter).get_default_prefix()
        is_part = isinstance(inline, PartInlineMixin)
        rows = list(inline.get_queryset(request).filter(chapter=chapter)) if is_part else []
        data |= {f"{prefix}-TOTAL_FORMS": str(len(rows)), f"{prefix}-INITIAL_FORMS": str(len(rows))}
        for place, row in enumerate(rows):
            values = {"id": row.pk, "chapter": chapter.pk, **model_to_dict(row)}
            data |= {f"{prefix}-{place}-{name}": str(value) for name, value in values.items()}
    return data | {"loaded_state": state_of(chapter)}


def _values(form: ModelForm, prefix: str) -> dict[str, str]:
    values = {bound.html_name: bound.value() for bound in form}
    return {
        name: "on" if value is True else str(value)
        for name, value in values.items()
        if value not in (None, False)
    }


@pytest.mark.django_db
def test_a_chapter_of_400_steps_200_formulas_and_long_chinese_texts_is_saved(
    tmp_path: Path,
) -> None:
    course = write(tmp_path, content(400, 200, **dict.fromkeys(TEXTS, CHINESE)))
    assert not load_course(course).failed
    chapter = Chapter.objects.get(slug="long")
    author = client_of_author("author")
    data = form_of(chapter, User.objects.get(username="author"))
    assert len(data) > 5_000
    # Escaped as in an address: as large as the same form can be sent.
    body = urlencode({**data, "title": "Saved"})
    assert len(body) > settings.MAX_BODY_BYTES
    response = author.post(change_url(chapter), body, "application/x-www-form-urlencoded")
    assert response.status_code == 302, response.context["errors"]
    chapter.refresh_from_db()
    assert (chapter.title, chapter.intuition) == ("Saved", CHINESE)
    assert chapter.steps.count() == 400
    # The form is sent field by field, so that its size is that of its texts.
    assert ChapterForm().is_multipart()


def test_no_form_of_a_chapter_exceeds_the_limit_of_fields() -> None:
    request: Any = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_active=True)
    admin = site.get_model_admin(Chapter)
    widest = max(
        len(inline.get_formset(request).form.base_fields) + 4  # id, parent, DELETE, position
        for inline in admin.get_inline_instances(request)
        if isinstance(inline, PartInlineMixin)
    )
    # Twice as many parts as a chapter may have: those are shown again, and counted for the author.
    assert 2 * MAX_PARTS * widest < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS


@pytest.mark.django_db
def test_a_text_that_is_too_long_is_named_and_still_there(author: Client, rows: Chapter) -> None:
    typed = "字" * (MAX_TEXT_CHARACTERS + 1)
    response = post(author, change_url(rows), intuition=typed, title="Typed")
    assert response.status_code == 200
    (said,) = response.context["adminform"].form.errors["intuition"]
    assert said.startswith("This text has 100,001 characters; it may have 100,000. Shorten it")
    page = response.content.decode()
    assert typed in page
    assert 'value="Typed"' in page
    # A browser that knew the limit would cut off what is pasted.
    assert f'maxlength="{MAX_TEXT_CHARACTERS}"' not in page


@pytest.mark.django_db
def test_a_text_that_is_too_long_to_be_rendered_is_named_too(author: Client, rows: Chapter) -> None:
    response = post(author, change_url(rows), intuition=f"{CHINESE}!")
    (said,) = response.context["adminform"].form.errors["intuition"]
    assert "This text has 50,001 characters; it may have 50,000." in said


@pytest.mark.django_db
def test_texts_that_are_too_long_together_are_told_at_the_longest(
    author: Client, rows: Chapter
) -> None:
    names = (*TEXTS, "prerequisites", "code_intro", "summary_text", "references")
    typed = dict.fromkeys(names, "字" * 49_000) | {"intuition": "字" * 50_000}
    response = post(author, change_url(rows), **typed)
    assert response.status_code == 200
    (said,) = response.context["adminform"].form.errors["intuition"]
    assert "All texts of the chapter take 1,1" in said
    assert "they may take 1,024 KB" in said
    assert "This one is the longest, with 146 KB." in said
    assert response.content.decode().count(typed["references"]) >= len(names)


def test_too_many_parts_are_counted() -> None:
    errors = exceeded_limits(content(700, 301))
    assert list(errors) == ["steps"]
    assert "The chapter has 1,001 parts, 700 of them steps" in errors["steps"][0].message
    assert not exceeded_limits(content(700, 300))


def test_a_file_that_holds_too_much_says_where(tmp_path: Path) -> None:
    folder = write(tmp_path, content(1, 1, intuition="a" * 1_000)) / "long"
    file = folder / "chapter.yaml"
    file.write_text(file.read_text().replace("a" * 1_000, "a" * (MAX_TEXT_CHARACTERS + 1)))
    with pytest.raises(files.FileError, match=r"intuition: This text has 100,001 characters"):
        files.read_chapter(files.read_folder(folder))
