"""Delete what visitors without an account left behind and can no longer come back to."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from courses.learners import forget_visitors


class Command(BaseCommand):
    help = (
        "Deletes sessions that have expired, and the answers of visitors without an account that "
        "no session leads to any more. Accounts and their progress are never touched."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"Visitors forgotten: {forget_visitors()}.")
