from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from grader.api import schema


class Command(BaseCommand):
    """Write the API's description from the code, or check that the file still matches it."""

    help = "Write grader/api/openapi.yaml from the code; with --check only compare."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="fail if the file differs")

    def handle(self, *args: Any, **options: Any) -> None:
        text = schema.to_yaml(schema.generate())
        if not options["check"]:
            schema.CHECKED_IN.write_text(text, encoding="utf-8")
            self.stdout.write(f"Wrote {schema.CHECKED_IN.name}.")
        elif schema.CHECKED_IN.read_text(encoding="utf-8") != text:
            raise CommandError(
                "grader/api/openapi.yaml does not match the code. Run: manage.py write_api_schema"
            )
