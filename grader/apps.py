from __future__ import annotations

from django.apps import AppConfig


class GraderConfig(AppConfig):
    name = "grader"
    verbose_name = "Grading"

    def ready(self) -> None:
        from courses import edition
        from grader.models import Exercise
        from grader.services import account_acts
        from grader.web import panels

        panels.register()
        account_acts.connect()
        # The chapter's page lists its exercises.
        edition.advances_with(Exercise)
