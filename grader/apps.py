from __future__ import annotations

from django.apps import AppConfig


class GraderConfig(AppConfig):
    name = "grader"
    verbose_name = "Grading"

    def ready(self) -> None:
        from django.contrib.auth.models import User
        from django.db.models.signals import post_save

        from courses.pages import generation
        from courses.publishing import site
        from grader.models import Exercise
        from grader.services import account_acts, leave
        from grader.services.exercises import is_known
        from grader.services.tokens import end_tokens_with_password
        from grader.web import panels

        for name in ("exercise", "download", "check_script"):
            site.register(f"grader:{name}", lambda arguments: is_known(arguments["slug"]))
        panels.register()
        account_acts.connect()
        leave.connect()
        post_save.connect(
            end_tokens_with_password, sender=User, dispatch_uid="grader.end_tokens_with_password"
        )
        # The chapter's page lists its exercises.
        generation.advances_with(Exercise)
