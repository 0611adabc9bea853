from __future__ import annotations

from argparse import ArgumentParser
from time import sleep
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from grader.models import Exercise
from grader.services.publishing import Answer, newest_check, publish_exercise, standing_of

SECONDS_BETWEEN_LOOKS: Final = 1.0


class Command(BaseCommand):
    """Ask for exercises to be published, as ticking *Published* in the admin does."""

    help = (
        "Publish exercises once their checks have passed. Workers make the checks; this waits for "
        "them, and fails where an exercise was not published. Ctrl-C ends the waiting alone. One "
        "that has passed and not changed since is published at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="+", help="exercises that have been loaded")
        parser.add_argument(
            "--no-wait", action="store_true", help="ask for the checks and return at once"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refused = []
        for slug in options["slug"]:
            answer = self._ask(slug)
            if answer is Answer.CHECKING and not options["no_wait"]:
                try:
                    answer = self._wait(slug)
                except KeyboardInterrupt:
                    raise CommandError(
                        f"The check of {slug} goes on; the admin shows how it ends.", returncode=130
                    ) from None
            self.stdout.write(f"{slug}: {answer.value}")
            if answer is Answer.REFUSED:
                refused.append(f"{slug}: {_reason(slug)}")
        if refused:
            raise CommandError("\n".join(["Not everything was published.", *refused]))

    def _ask(self, slug: str) -> Answer:
        standing = standing_of(slug)
        with transaction.atomic():
            exercise = Exercise.objects.select_for_update().filter(slug=slug).first()
            if exercise is None:
                raise CommandError(
                    f"There is no exercise {slug} here. Load its file first: manage.py "
                    "load_exercises."
                )
            return publish_exercise(exercise, standing)

    def _wait(self, slug: str) -> Answer:
        """Wait for the check to end, reporting its progress."""
        said = ""
        while True:
            exercise = Exercise.objects.get(slug=slug)
            check = newest_check(exercise)
            if exercise.is_published:
                return Answer.PUBLISHED
            if check is None or not check.is_open:
                return Answer.REFUSED
            if check.progress != said:
                said = check.progress
                self.stdout.write(f"{slug}: {said}")
            sleep(SECONDS_BETWEEN_LOOKS)


def _reason(slug: str) -> str:
    check = newest_check(Exercise.objects.get(slug=slug))
    return (check.reason or check.progress) if check else "It was deleted meanwhile."
