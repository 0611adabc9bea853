from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from learnml import prepare


class Command(BaseCommand):
    help = "Migrate, load courses and exercises, collect static files; only what is needed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--static", action="store_true", help="Only the static files, without a database."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["static"]:
            prepare.prepare_static_files(self.stdout.write)
            return
        if not settings.DEMO_ACCOUNTS_ALLOWED:
            # Production: an unsafe configuration must not get as far as a database.
            call_command("check", deploy=True, fail_level="ERROR")
        prepare.prepare_secret_key()
        prepare.prepare_database(self.stdout.write)
        prepare.prepare_demo_accounts(
            self.stdout.write, os.environ.get("LEARNML_DEMO_PASSWORD", "")
        )
        prepare.prepare_static_files(self.stdout.write)
