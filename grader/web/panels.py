"""The grader's panels on the pages of `courses`."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import HttpRequest
from django.utils import timezone

from courses import panels
from courses.models import Chapter, Course
from grader import queries
from grader.deadlines import deadline_for
from grader.models import Exercise
from grader.registry import find_spec, groups_of_steps

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
            "deadline": deadline_for(exercise, request.user),
            "spec": find_spec(exercise.slug),
            "best": queries.brief(exercise, "best"),
            "last": queries.brief(exercise, "last"),
        }
        for exercise in exercises
    ]
    return panels.Panel(
        "grader/_panel_exercises.html",
        {"exercises": entries},
        "Exercises",
        "part-exercises",
        tuple(check for exercise in exercises for check in _checks(exercise)),
    )


def _checks(exercise: Exercise) -> Iterator[panels.Check]:
    """Yield links from steps of the derivation to the groups that test them."""
    for step, group in groups_of_steps(exercise.slug).items():
        url = f"{exercise.get_absolute_url()}#group-{group.id}"
        yield panels.Check(step, url, f"test “{group.title}” of {exercise.title}")


def verdicts_panel(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
    """The learner's latest submissions."""
    if not request.user.is_authenticated:
        return None
    recent = list(queries.own_submissions(request.user)[:RECENT_SHOWN])
    return panels.Panel(
        "grader/_panel_recent.html", {"submissions": recent}, "Recent verdicts", "recent-verdicts"
    )


def deadlines_panel(request: HttpRequest, chapter: Chapter | None) -> panels.Panel | None:
    """Upcoming deadlines, for the dashboard."""
    return _deadlines(request, queries.exercises_with_end(request.user, after=timezone.now()))


def course_deadlines_panel(request: HttpRequest, course: Course) -> panels.Panel | None:
    """All deadlines of a course, including past ones, so that its page does not age."""
    return _deadlines(request, queries.exercises_with_end(request.user, course))


def _deadlines(request: HttpRequest, exercises: list[Exercise]) -> panels.Panel | None:
    if not exercises:
        return None
    entries = [
        {
            "exercise": exercise,
            "deadline": deadline_for(exercise, request.user),
            "result": queries.brief(exercise, "best") or queries.brief(exercise, "last"),
        }
        for exercise in exercises
    ]
    return panels.Panel(
        "grader/_panel_deadlines.html", {"exercises": entries}, "Deadlines", "deadlines"
    )


def register() -> None:
    panels.register("chapter", exercises_panel)
    panels.register("dashboard", deadlines_panel)
    panels.register("dashboard", verdicts_panel)
    panels.register_for_courses(course_deadlines_panel)
    panels.register_listing_tool("grader/_listing_action.html")
