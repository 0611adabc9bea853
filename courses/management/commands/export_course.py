"""Write courses to folders, from which load_course reads them back byte for byte."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from courses.content.exporter import export_course
from courses.models import Course


class Command(BaseCommand):
    help = "Writes each course to DIR/<course slug>: YAML, and listings as real files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dir", help="folder to write to; it is made where it is missing")
        parser.add_argument("--course", help="slug of the one course to write")

    def handle(self, *args: Any, **options: Any) -> None:
        courses = Course.objects.all()
        if options["course"]:
            courses = courses.filter(slug=options["course"])
        if not courses:
            raise CommandError("There is no such course. Load one first, or check its slug.")
        for course in courses:
            written = export_course(course, Path(options["dir"]))
            self.stdout.write(f"{course.slug}: {len(written)} files written.")
