from __future__ import annotations

from django.apps import AppConfig


class GraderConfig(AppConfig):
    name = "grader"
    verbose_name = "Grading"

    def ready(self) -> None:
        from grader.web import panels

        panels.register()
