"""Check a course's files as an import would, without a database."""

from __future__ import annotations

import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from courses.content import files
from courses.content.errors import ContentError, FileError, describe
from courses.content.matching import repeated_ids
from courses.content.schema import CHAPTER_FILE, ChapterContent, CourseContent
from courses.publishing import build
from courses.publishing.site import FilesSite

from .load_course import course_folders

AnyContent = TypeVar("AnyContent", CourseContent, ChapterContent)
NO_ID = (
    "There is no id, by which it would be known once its slug has changed. check_course --write "
    "gives it one; export_course writes the one that a site gave it."
)


class Command(BaseCommand):
    help = (
        "Checks the files of courses: format, keys, formulas, questions, named lines, and that "
        "each file is written the one canonical way. Writes nothing unless --write."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", nargs="*", help="folder of a course (holds course.yaml)")
        parser.add_argument(
            "--write", action="store_true", help="write the files anew, the canonical way"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        problems: list[str] = []
        for path in course_folders(options["path"]):
            found = check_course(path, write=options["write"])
            problems += found
            if not found:
                self.stdout.write(f"{path.name}: no mistakes found.")
        if problems:
            raise CommandError("\n".join(problems))


def check_course(path: Path, write: bool = False) -> list[str]:
    """Return all problems of the course in the folder `path`, each with its file first."""
    try:
        folder = files.read_folder(path)
        course = files.read_course(folder)
    except FileError as error:
        return error.problems
    course, problems = _with_id(course, folder.path / files.COURSE_FILE, write)
    problems += _check_form(folder, files.course_files(course), write)
    chapters: dict[str, ChapterContent] = {}
    for slug in course.chapters:
        try:
            folder = files.read_folder(path / slug)
            chapters[slug] = files.read_chapter(folder)
        except FileError as error:
            problems += error.problems
        else:
            chapter_file = folder.path / CHAPTER_FILE
            chapters[slug], missing = _with_id(chapters[slug], chapter_file, write)
            problems += missing + _check_form(folder, files.chapter_files(chapters[slug]), write)
    for slug, problem in repeated_ids({slug: one.id for slug, one in chapters.items()}).items():
        problems.append(f"{path / slug / CHAPTER_FILE}: {problem}")
    for slug, chapter in chapters.items():
        page = reverse("courses:chapter", args=[course.slug, slug])
        try:
            build(chapter, site=FilesSite(page, course.slug, chapters))
        except ContentError as error:
            problems += [f"{path / slug}: {text}" for text in describe(error.errors)]
    return problems


def _with_id(content: AnyContent, path: Path, write: bool) -> tuple[AnyContent, list[str]]:
    """Give what has no id one, or say that it is missing."""
    if content.id is not None:
        return content, []
    if write:
        return content.model_copy(update={"id": str(uuid.uuid4())}), []
    return content, [f"{path}: {NO_ID}"]


def _check_form(folder: files.Folder, canonical: dict[str, bytes], write: bool) -> list[str]:
    """Compare files with what an export would write, or write that."""
    problems = []
    for name, data in canonical.items():
        if folder.files.get(name) == data:
            continue
        if write:
            (folder.path / name).write_bytes(data)
        else:
            problems.append(
                f"{folder.path / name}: not in the canonical form. "
                "check_course --write writes it so; the content stays the same."
            )
    return problems
