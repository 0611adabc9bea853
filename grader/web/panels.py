"""What the grader adds to the pages of `courses`."""

from __future__ import annotations

from django.http import HttpRequest

from courses import panels
from courses.models import Chapter
from grader import queries
from grader.registry import find_spec

RECENT_SHOWN = 5


def exercises_panel(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
    """The chapter's exercises, each with the learner's best and last submission."""
    if chapter is None:
        return None
    exercises = queries.chapter_exercises(chapter, request.user)
    if not exercises:
        return None
    entries = [
        {
            "exercise": exercise,
            "spec": find_spec(exercise.slug),
            "best": queries.brief(exercise, "best"),
            "last": queries.brief(exercise, "last"),
        }
        for exercise in exercises
    ]
    return panels.Panel(
        "grader/_panel_exercises.html", {"exercises": entries}, "Exercises", "part-exercises"
    )


def verdicts_panel(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
    """The learner's latest submissions."""
    if not request.user.is_authenticated:
        return None
    recent = list(queries.own_submissions(request.user)[:RECENT_SHOWN])
    return panels.Panel(
        "grader/_panel_recent.html", {"submissions": recent}, "Recent verdicts", "recent-verdicts"
    )


def register() -> None:
    panels.register("chapter", exercises_panel)
    panels.register("dashboard", verdicts_panel)
