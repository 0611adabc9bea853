from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gpu_worker.checking import (
    HeaderError,
    SandboxError,
    Zygote,
    kernels_missing,
    look_at,
    publishing_steps,
)
from gpu_worker.exercises import Exercise, UnknownExerciseError, get
from gpu_worker.exercises.digests import content_digest
from grader import content


class Command(BaseCommand):
    """Note which exercises of the library pass their check as they are, for those who install."""

    help = (
        "Make the check before publishing of the exercises in grader/library that have changed, "
        "and note in grader/library/checked.json which have passed: those are published by the "
        "first start without another check. Needs the sandbox; takes minutes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="*", help="exercises; default: all of the library")
        parser.add_argument("--all", action="store_true", help="those that have not changed too")

    def handle(self, *args: Any, **options: Any) -> None:
        if why := kernels_missing():
            raise CommandError(f"Kernels cannot be checked here. {why}")
        library = [path.stem for path in content.files()]
        known = {slug: digest for slug, digest in content.checked().items() if slug in library}
        failed = []
        try:
            with Zygote() as zygote:
                for slug in options["slug"] or library:
                    exercise = get(slug)
                    digest = content_digest(exercise.folder)
                    if known.pop(slug, None) == digest and not options["all"]:
                        self.stdout.write(f"{slug}: unchanged")
                    elif reason := self._check(exercise, zygote):
                        failed.append(f"{slug}: {reason}")
                        continue
                    known[slug] = digest
        except (UnknownExerciseError, HeaderError, SandboxError) as error:
            raise CommandError(str(error)) from error
        content.write_checked(known)
        if failed:
            raise CommandError("\n".join(["Not recorded:", *failed]))

    def _check(self, exercise: Exercise, zygote: Zygote) -> str:
        """Return what speaks against publishing the exercise first of all, "" if nothing does."""
        steps = publishing_steps(exercise)
        for number, step in enumerate(steps, 1):
            complaint, missed = look_at(exercise, step, zygote)
            if complaint or missed:
                return complaint or f"The cases miss a mistake: {missed}."
            if number % 20 == 0:
                self.stdout.write(f"{exercise.slug}: {number} of {len(steps)} programs")
        self.stdout.write(f"{exercise.slug}: passed with {len(steps)} programs")
        return "" if steps else "It has no stored submissions."
