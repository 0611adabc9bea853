from __future__ import annotations

from django.apps import AppConfig


class CoursesConfig(AppConfig):
    name = "courses"
    verbose_name = "Courses"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from courses.accounts import signals
        from courses.learners import merge_on_login
        from courses.models import Chapter, ChapterRevision, Course
        from courses.pages import generation

        user_logged_in.connect(merge_on_login, dispatch_uid="courses.merge_learners")
        signals.connect()
        generation.advances_with(Course, Chapter, ChapterRevision)
