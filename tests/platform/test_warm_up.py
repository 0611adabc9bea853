"""The web server asks itself for its first pages: no visitor waits for what is made once."""

from __future__ import annotations

import logging
import runpy
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test.client import ClientHandler
from django.urls import reverse
from pytest_django.fixtures import Settings

from courses.content.importer import load_course
from courses.models import Chapter
from courses.pages import queries
from courses.tests.conftest import CHAPTER_URL, TINY
from grader.models import Exercise
from learnml.warm_up import warm_up
from tests.platform.instance import PROJECT


class Recorder:
    """The site, with what it was asked and how it answered; a test's connection stays open."""

    def __init__(self) -> None:
        self.answers: dict[str, int] = {}
        self._site = ClientHandler()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        response = self._site(environ)
        self.answers[environ["PATH_INFO"]] = response.status_code
        start(str(response.status_code), list(response.items()))
        return [response.content]


@pytest.fixture(autouse=True)
def closings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """How often the connections were closed: not really, a test's own lives in a transaction."""
    found: list[bool] = []
    monkeypatch.setattr(connections, "close_all", lambda: found.append(True))
    return found


def make_pages() -> str:
    """Return the address of an exercise beside the chapter."""
    assert not load_course(TINY).failed
    exercise = Exercise.objects.create(
        slug="rmsnorm", title="RMSNorm", chapter=Chapter.objects.get(slug="rows"), is_published=True
    )
    return reverse("grader:exercise", args=[exercise.slug])


@pytest.mark.django_db
@pytest.mark.parametrize("hosts", [["*"], ["learnml.example.org", "localhost"]])
def test_the_pages_of_a_first_visit_are_answered(
    settings: Settings, hosts: list[str], closings: list[bool]
) -> None:
    settings.ALLOWED_HOSTS = hosts
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    exercise = make_pages()
    site = Recorder()
    warm_up(site)
    assert {"/", "/search/", CHAPTER_URL, exercise} <= site.answers.keys()
    assert set(site.answers.values()) == {200}
    assert closings == [True]


@pytest.mark.django_db
def test_a_site_without_courses_starts_too() -> None:
    site = Recorder()
    warm_up(site)
    assert site.answers["/"] == 200


def test_a_database_that_does_not_answer_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, closings: list[bool]
) -> None:
    def refuse(learner: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(queries, "course_entries", refuse)
    with caplog.at_level(logging.WARNING, "learnml.warm_up"):
        warm_up(Recorder())
    assert "connection refused" in caplog.text
    assert closings == [True]


@pytest.mark.django_db
def test_the_server_does_it_before_it_makes_its_processes() -> None:
    configuration = runpy.run_path(str(PROJECT / "learnml/gunicorn.conf.py"))
    site, other = Recorder(), Recorder()
    for name, app in (("learnml.wsgi", site), ("bench.bare", other)):
        wsgi = SimpleNamespace(app_uri=name, wsgi=lambda app=app: app)
        configuration["when_ready"](SimpleNamespace(app=wsgi))
    assert site.answers
    assert not other.answers
