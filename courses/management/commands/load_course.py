"""Import courses from their folders."""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from courses.content.errors import FileError
from courses.content.files import COURSE_FILE, read_course, read_folder
from courses.content.importer import Action, ImportReport, load_course
from courses.content.matching import repeated_ids

LIBRARY = Path(__file__).resolve().parents[2] / "library"


def course_folders(paths: list[str]) -> list[Path]:
    """Return the folders named, or every course of the library."""
    if paths:
        return [Path(path).resolve() for path in paths]
    return sorted(path.parent for path in LIBRARY.glob(f"*/{COURSE_FILE}"))


def _same_ids(folders: list[Path]) -> list[str]:
    """Say which folders hold one course twice: the second would rename the first."""
    ids: dict[str, str | None] = {}
    for folder in folders:
        with suppress(FileError):  # told of when the folder is loaded
            ids[str(folder)] = read_course(read_folder(folder)).id
    return [f"{folder}: {problem}" for folder, problem in repeated_ids(ids).items()]


class Command(BaseCommand):
    help = (
        "Imports courses from folders with a course.yaml, by default all that LearnML brings. "
        "Only what changed is imported; text edited in the admin since is kept unless --force."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", nargs="*", help="folder of a course (holds course.yaml)")
        parser.add_argument(
            "--force", action="store_true", help="overwrite what was edited in the admin"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folders = course_folders(options["path"])
        failed = _same_ids(folders)
        for folder in folders if not failed else ():
            try:
                report = load_course(folder, force=options["force"])
            except FileError as error:
                failed.append(str(error))
                continue
            self._say(folder, report)
            failed += [result.message for result in report.failed]
        if failed:
            raise CommandError("Not everything could be imported:\n" + "\n".join(failed))

    def _say(self, folder: Path, report: ImportReport) -> None:
        if all(result.action is Action.UNCHANGED for result in report.results):
            self.stdout.write(f"{folder.name}: nothing has changed.")
            return
        for result in report.results:
            if result.action is Action.FAILED:
                continue
            text = f"{result.name}: {result.action.value}."
            self.stdout.write(f"{text} {result.message}".rstrip())
