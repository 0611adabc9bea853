"""Panels: content that other apps add to the pages of chapters and courses, or to the dashboard.

`courses` knows none of these apps: each registers a provider in its `AppConfig.ready`:

    from courses import panels
    panels.register("chapter", provider)

A provider gets the request and the chapter (None on the dashboard), and returns a `Panel`, or None
where it has nothing to show. A provider of `register_for_courses` gets the course. A tool beside
each listing, the same for all readers, is a template:

    panels.register_listing_tool("app/_tool.html")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from django.http import HttpRequest

from courses.models import Chapter, Course

Place: TypeAlias = Literal["chapter", "dashboard"]


@dataclass(frozen=True, slots=True)
class Check:
    """A test of whether a step of the derivation was understood: its address and name."""

    step: str
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A template with its context, a title, and the anchor of its section.

    `checks` are linked from the steps of the chapter's derivation.
    """

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    anchor: str = ""
    checks: tuple[Check, ...] = ()


Provider: TypeAlias = Callable[[HttpRequest, Chapter | None], Panel | None]
CourseProvider: TypeAlias = Callable[[HttpRequest, Course], Panel | None]

_providers: dict[Place, list[Provider]] = {"chapter": [], "dashboard": []}
_course_providers: list[CourseProvider] = []
_listing_tools: list[str] = []


def register(place: Place, provider: Provider) -> None:
    """Show what `provider` returns at `place`; registering a provider twice has no effect."""
    if provider not in _providers[place]:
        _providers[place].append(provider)


def unregister(place: Place, provider: Provider) -> None:
    """Remove a provider; one that is not registered is ignored."""
    if provider in _providers[place]:
        _providers[place].remove(provider)


def panels_for(place: Place, request: HttpRequest, chapter: Chapter | None = None) -> list[Panel]:
    """Return the panels for one page, in the order of registration."""
    panels = (provider(request, chapter) for provider in _providers[place])
    return [panel for panel in panels if panel is not None]


def register_for_courses(provider: CourseProvider) -> None:
    """Show what `provider` returns on each course's page; registering twice has no effect."""
    if provider not in _course_providers:
        _course_providers.append(provider)


def panels_of(course: Course, request: HttpRequest) -> list[Panel]:
    """Return the panels for the page of a course, in the order of registration."""
    panels = (provider(request, course) for provider in _course_providers)
    return [panel for panel in panels if panel is not None]


def register_listing_tool(template: str) -> None:
    """Show `template` beside each listing; its context is listing, course_slug and chapter_slug."""
    if template not in _listing_tools:
        _listing_tools.append(template)


def listing_tools() -> tuple[str, ...]:
    """Return the templates of the tools, in the order of registration."""
    return tuple(_listing_tools)
