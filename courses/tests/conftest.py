"""The tiny course of the tests: as files, in the database, and ways to answer it."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from courses.content.importer import load_course
from courses.models import Chapter, Course
from courses.publishing import builder
from courses.rendering import render_all
from courses.rendering.model import Rendered, Source

FIXTURES = Path(__file__).parent / "fixtures"
TINY = FIXTURES / "tiny-course"
CHAPTER_URL = "/courses/tiny-course/rows/"
RIGHT_ANSWERS = {
    "which": {"choice": "two"},
    "all-of": {"choice": ["a", "c"]},
    "root": {"value": "sqrt(7.5)"},
}


@pytest.fixture
def course_files(tmp_path: Path) -> Path:
    """A copy of the tiny course's folder that a test may change."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny-course"))


_rendered: dict[tuple[tuple[str, Source], ...], Rendered] = {}


def render_once(sources: Mapping[str, Source]) -> Rendered:
    """Render as `render_all` does, the same sources once in all tests of a process."""
    key = tuple(sources.items())
    if key not in _rendered:
        _rendered[key] = render_all(sources)
    return copy.deepcopy(_rendered[key])


@pytest.fixture
def tiny_course(db: None, monkeypatch: pytest.MonkeyPatch) -> Course:
    # Some 240 tests begin with it; what a test itself imports or saves is rendered each time.
    with monkeypatch.context() as patch:
        patch.setattr(builder, "render_all", render_once)
        report = load_course(TINY)
    assert not report.failed
    return Course.objects.get(slug="tiny-course")


@pytest.fixture
def rows(tiny_course: Course) -> Chapter:
    return Chapter.objects.select_related("current_revision").get(slug="rows")


def client_of_author(name: str) -> Client:
    """Return the browser of a new account that may edit."""
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name="author"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def author(rows: Chapter) -> Client:
    return client_of_author("author")


def answer_url(question_key: str) -> str:
    return f"{CHAPTER_URL}questions/{question_key}/answer"
