from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from learnml.supervisor.main import main


class Command(BaseCommand):
    """Listed here for `manage.py help`; manage.py itself starts `up` without loading Django."""

    help = "Start everything: queue, web, workers, scheduler. Ctrl-C stops it."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if code := main([]):
            raise CommandError("LearnML did not start.", returncode=code)
