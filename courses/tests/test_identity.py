"""Courses and chapters keep their identity and their former addresses when they are renamed."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.urls import reverse

from courses import services
from courses.content.errors import FileError
from courses.content.exporter import export_course
from courses.content.importer import Action, ImportReport, load_course
from courses.management.commands.check_course import check_course
from courses.management.commands.load_course import LIBRARY
from courses.models import (
    Chapter,
    Course,
    OldChapterSlug,
    QuizAttempt,
    SlugTakenError,
)

from .admin_forms import change_url, post
from .conftest import CHAPTER_URL, answer_url, client_of_author

NEW_URL = "/courses/tiny-course/lines/"


def rename_in_files(course: Path, old: str, new: str) -> None:
    """Give a chapter of the files another slug."""
    (course / old).rename(course / new)
    replace(course / new / "chapter.yaml", f"slug: {old}\n", f"slug: {new}\n")
    replace(course / "course.yaml", f"- {old}\n", f"- {new}\n")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def outcome(report: ImportReport, name: str) -> tuple[Action, str]:
    (found,) = (one for one in report.results if one.name == name)
    return found.action, found.message


def rename(chapter: Chapter, slug: str) -> None:
    """Do what the admin does."""
    chapter.slug = slug
    chapter.save()
    services.publish_chapter(chapter, None)


# --- addresses -------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_old_address_leads_to_the_new_one_for_readers_and_programs(
    client: Client, rows: Chapter
) -> None:
    rename(rows, "lines")
    assert client.get(NEW_URL).status_code == 200
    for old, new in (
        (CHAPTER_URL, NEW_URL),
        (f"{CHAPTER_URL}?a=b", f"{NEW_URL}?a=b"),
        (f"{CHAPTER_URL}files/mean.py", f"{NEW_URL}files/mean.py"),
        ("/run/tiny-course/rows/mean.py", "/run/tiny-course/lines/mean.py"),
        ("/api/v1/chapters/rows/", "/api/v1/chapters/lines/"),
    ):
        response = client.get(old)
        assert (response.status_code, response["Location"]) == (301, new)
        # Kept for good, it would turn in circles once the old name was taken back.
        assert response["Cache-Control"] == "max-age=600"
        assert client.get(new).status_code == 200


@pytest.mark.django_db
def test_an_answer_sent_from_a_page_that_was_open_arrives(client: Client, rows: Chapter) -> None:
    rename(rows, "lines")
    response = client.post(answer_url("which"), {"choice": "two"})
    assert response.status_code == 308
    assert client.post(response["Location"], {"choice": "two"}).status_code == 303
    assert QuizAttempt.objects.get(chapter=rows).correct


@pytest.mark.django_db
def test_a_renamed_course_and_a_chapter_that_moved_are_found(client: Client, rows: Chapter) -> None:
    course = rows.course
    course.slug = "small-course"
    course.save()
    rename(rows, "lines")
    for old, new in (
        ("/courses/tiny-course/", "/courses/small-course/"),
        (CHAPTER_URL, "/courses/small-course/lines/"),
        ("/courses/tiny-course/columns/", "/courses/small-course/columns/"),
    ):
        assert client.get(old)["Location"] == new
    other = Course.objects.create(slug="other", title="Other")
    Chapter.objects.filter(pk=rows.pk).update(course=other)
    assert client.get("/courses/small-course/lines/")["Location"] == "/courses/other/lines/"
    assert client.get("/courses/no-course/lines/").status_code == 404


@pytest.mark.django_db
def test_a_former_address_does_not_reveal_a_draft(client: Client, rows: Chapter) -> None:
    rename(rows, "secret-plan")
    Chapter.objects.filter(pk=rows.pk).update(published=False)
    assert client.get(CHAPTER_URL).status_code == 404
    assert client.get("/api/v1/chapters/rows/").status_code == 404
    assert client_of_author("ada").get(CHAPTER_URL).status_code == 301


@pytest.mark.django_db
def test_names_may_be_taken_back_and_go_from_one_to_the_next(client: Client, rows: Chapter) -> None:
    for slug in ("lines", "ranks", "rows"):
        rename(rows, slug)
    assert client.get(CHAPTER_URL).status_code == 200
    assert client.get(NEW_URL)["Location"] == CHAPTER_URL
    assert client.get("/courses/tiny-course/ranks/")["Location"] == CHAPTER_URL
    assert set(OldChapterSlug.objects.values_list("slug", flat=True)) == {"lines", "ranks"}


@pytest.mark.django_db
def test_nothing_else_takes_an_old_address_before_it_is_deleted(
    author: Client, rows: Chapter
) -> None:
    columns = Chapter.objects.get(slug="columns")
    rename(rows, "lines")
    with pytest.raises(SlugTakenError, match="“rows” leads to"):
        rename(columns, "rows")
    response = post(author, change_url(columns), slug="rows")
    assert "The address “rows” leads to" in response.content.decode()
    assert Chapter.objects.get(pk=columns.pk).slug == "columns"
    old = OldChapterSlug.objects.get(slug="rows")
    listed = author.get(reverse("admin:courses_oldchapterslug_changelist")).content.decode()
    assert "rows" in listed
    author.post(
        reverse("admin:courses_oldchapterslug_delete", args=[old.pk]), {"post": "yes"}, follow=True
    )
    assert post(author, change_url(columns), slug="rows").status_code == 302
    assert Chapter.objects.get(slug="rows") == columns


@pytest.mark.django_db
def test_renaming_in_the_admin_keeps_the_old_address(author: Client, rows: Chapter) -> None:
    assert post(author, change_url(rows), slug="lines").status_code == 302
    assert author.get(CHAPTER_URL)["Location"] == NEW_URL


@pytest.mark.django_db
def test_links_to_an_old_address_are_fine(rows: Chapter, author: Client) -> None:
    rename(rows, "lines")
    columns = Chapter.objects.get(slug="columns")
    link = f"[it]({CHAPTER_URL}#step-start)"
    assert post(author, change_url(columns), intuition=link).status_code == 302


# --- imports ---------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_chapter_renamed_in_its_file_stays_the_same_chapter(
    client: Client, rows: Chapter, course_files: Path
) -> None:
    client.post(answer_url("which"), {"choice": "two"})
    rename_in_files(course_files, "rows", "lines")
    report = load_course(course_files)
    assert outcome(report, "lines") == (
        Action.UPDATED,
        "Its address was rows; what leads there now comes to lines.",
    )
    assert {one.name for one in report.results} == {"tiny-course", "lines", "columns"}
    assert list(Chapter.objects.values_list("slug", flat=True)) == ["lines", "columns"]
    assert Chapter.objects.get(slug="lines").pk == rows.pk
    assert QuizAttempt.objects.filter(chapter=rows).exists()
    assert client.get(CHAPTER_URL)["Location"] == NEW_URL
    assert all(one.action is Action.UNCHANGED for one in load_course(course_files).results)


@pytest.mark.django_db
@pytest.mark.parametrize("touched", [False, True], ids=["files as they were", "files changed"])
@pytest.mark.parametrize("has_id", [True, False], ids=["with id", "without id"])
def test_a_chapter_renamed_in_the_admin_is_not_imported_again(
    course_files: Path, touched: bool, has_id: bool, db: None
) -> None:
    path = course_files / "rows" / "chapter.yaml"
    if not has_id:
        path.write_text(path.read_text().partition("\n")[2])
    assert not load_course(course_files).failed
    rows = Chapter.objects.get(slug="rows")
    rename(rows, "lines")
    if touched:
        replace(path, "minutes: ", "minutes: 1")
    report = load_course(course_files)
    kept = [one for one in report.results if one.action is Action.KEPT]
    assert {one.name for one in kept} == {"tiny-course", "rows" if touched else "lines"}
    assert set(Chapter.objects.values_list("slug", flat=True)) == {"lines", "columns"}


@pytest.mark.django_db
def test_a_renamed_course_is_not_imported_again(tiny_course: Course, course_files: Path) -> None:
    renamed = course_files.rename(course_files.parent / "small-course")
    replace(renamed / "course.yaml", "slug: tiny-course", "slug: small-course")
    assert outcome(load_course(renamed), "small-course")[0] is Action.UPDATED
    assert Course.objects.get().pk == tiny_course.pk
    tiny_course.refresh_from_db()
    tiny_course.slug = "third-course"
    tiny_course.save()
    assert load_course(renamed).results[0].action is Action.KEPT
    assert Course.objects.count() == 1
    assert Chapter.objects.count() == 2


@pytest.mark.django_db
def test_an_id_and_a_slug_that_disagree_import_nothing_and_say_what_to_do(
    rows: Chapter, course_files: Path
) -> None:
    path = course_files / "rows" / "chapter.yaml"
    mine = str(rows.uid)
    before = path.read_text()
    # Another id, the same slug.
    path.write_text(before.replace(mine, str(uuid.uuid4())))
    assert f"write its id into the file: id: {mine}" in load_course(course_files).failed[0].message
    # The same id, the slug of another chapter.
    path.write_text(before)
    shutil.rmtree(course_files / "columns")
    replace(course_files / "course.yaml", "- columns\n", "")
    rename_in_files(course_files, "rows", "columns")
    (failed,) = load_course(course_files).failed
    assert "its slug “columns” belongs to “" in failed.message
    assert set(Chapter.objects.values_list("slug", flat=True)) == {"rows", "columns"}


@pytest.mark.django_db
def test_a_new_chapter_does_not_take_an_old_address(rows: Chapter, course_files: Path) -> None:
    rename(rows, "lines")
    path = course_files / "rows" / "chapter.yaml"
    path.write_text(path.read_text().replace(str(rows.uid), str(uuid.uuid4())))
    (failed,) = load_course(course_files).failed
    assert "The address “rows” leads to" in failed.message
    assert Chapter.objects.count() == 2


@pytest.mark.django_db
def test_a_copied_folder_needs_an_id_of_its_own(rows: Chapter, course_files: Path) -> None:
    shutil.copytree(course_files / "rows", course_files / "copy")
    replace(course_files / "copy" / "chapter.yaml", "slug: rows\n", "slug: copy\n")
    replace(course_files / "course.yaml", "- rows\n", "- rows\n- copy\n")
    for said in (
        "\n".join(one.message for one in load_course(course_files).failed),
        "\n".join(check_course(course_files)),
    ):
        assert "The id is also that of" in said
    assert Chapter.objects.get(pk=rows.pk).slug == "rows"
    path = course_files / "copy" / "chapter.yaml"
    path.write_text(path.read_text().partition("\n")[2])
    assert "There is no id" in "\n".join(check_course(course_files))
    assert check_course(course_files, write=True) == []
    assert check_course(course_files) == []
    assert outcome(load_course(course_files), "copy")[0] is Action.CREATED


@pytest.mark.django_db
def test_two_folders_of_one_course_are_not_loaded(tiny_course: Course, course_files: Path) -> None:
    other = Path(shutil.copytree(course_files, course_files.parent / "small-course"))
    replace(other / "course.yaml", "slug: tiny-course", "slug: small-course")
    with pytest.raises(CommandError, match="The id is also that of"):
        call_command("load_course", str(course_files), str(other))
    assert Course.objects.get().slug == "tiny-course"


@pytest.mark.django_db
def test_a_chapter_of_another_course_is_not_moved(tiny_course: Course, course_files: Path) -> None:
    other = course_files.rename(course_files.parent / "small-course")
    replace(other / "course.yaml", "slug: tiny-course", "slug: small-course")
    replace(other / "course.yaml", str(tiny_course.uid), str(uuid.uuid4()))
    report = load_course(other)
    assert [one.name for one in report.failed] == ["rows", "columns"]
    assert "already has this chapter" in report.failed[0].message


@pytest.mark.django_db
def test_a_course_file_with_anothers_slug_is_refused(
    tiny_course: Course, course_files: Path
) -> None:
    replace(course_files / "course.yaml", str(tiny_course.uid), str(uuid.uuid4()))
    with pytest.raises(FileError, match=f"id: {tiny_course.uid}"):
        load_course(course_files)


@pytest.mark.django_db
def test_an_export_after_renaming_goes_back_byte_for_byte(rows: Chapter, tmp_path: Path) -> None:
    rename(rows, "lines")
    export_course(rows.course, tmp_path)
    folder = tmp_path / "tiny-course"
    assert (
        (folder / "lines" / "chapter.yaml").read_text().startswith(f"id: {rows.uid}\nslug: lines")
    )
    assert check_course(folder) == []
    Course.objects.all().delete()
    assert not load_course(folder).failed
    export_course(Course.objects.get(), tmp_path / "again")
    for path in folder.rglob("*.*"):
        assert (tmp_path / "again" / path.relative_to(tmp_path)).read_bytes() == path.read_bytes()
    assert Chapter.objects.get(slug="lines").uid == rows.uid


@pytest.mark.django_db(transaction=True)
def test_the_migration_gives_existing_rows_ids_and_the_library_its_own() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate([("courses", "0007_held_forms")])
    try:
        old = executor.loader.project_state([("courses", "0007_held_forms")]).apps
        courses, chapters = (
            old.get_model("courses", name).objects for name in ("Course", "Chapter")
        )
        slug = "learn-ml-from-scratch"
        course = courses.create(slug=slug, title="Library")
        for name in ("make-it-fast", "mine", "yours"):
            chapters.create(course=course, slug=name, title=name)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    files = {
        path.parent.name: path.read_text().partition("\n")[0] for path in LIBRARY.rglob("*.yaml")
    }
    assert f"id: {Course.objects.get(slug=slug).uid}" == files[slug]
    assert f"id: {Chapter.objects.get(slug='make-it-fast').uid}" == files["make-it-fast"]
    assert Chapter.objects.values("uid").distinct().count() == 3
