from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from grader import content
from grader.models import Exercise
from grader.registry import find_spec
from grader.services.exercises import Loaded, load_exercise
from grader.services.publishing import newest_check


class Command(BaseCommand):
    """Load exercise statements; running it again changes nothing."""

    help = "Load the exercises' statements from grader/library, or from the files given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", nargs="*", type=Path, help="YAML files; default: the library")
        parser.add_argument(
            "--force",
            action="store_true",
            help="overwrite exercises that were edited in the admin since the last load",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for path in content.files(options["path"]):
            try:
                exercise = content.read(path)
                done = load_exercise(exercise, force=options["force"])
            except content.ExerciseFileError as error:
                raise CommandError(str(error)) from error
            except ValidationError as error:
                raise CommandError(f"{path}: {'; '.join(error.messages)}") from error
            self._report(exercise, done)

    def _report(self, file: content.ExerciseFile, done: Loaded) -> None:
        slug = file.slug
        self.stdout.write(f"{slug}: {done.value}")
        exercise = Exercise.objects.get(slug=slug)
        check = newest_check(exercise)
        if file.published and not exercise.is_published and check and check.why_not_published:
            self.stdout.write(f"  Not published: {check.why_not_published}")
        if done is Loaded.KEPT:
            self.stdout.write("  Use --force to overwrite what was edited in the admin.")
        if find_spec(slug) is None:
            self.stderr.write(
                f"{slug}: the grading engine has no exercise of this name, so it cannot be graded."
            )
