"""The tiny course of the tests: as files, in the database, and ways to answer it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client

from courses.content.importer import load_course
from courses.models import Chapter, Course

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


Rows = dict[type[Model], list[Model]]
_imported: dict[Path, Rows] = {}


def _stored() -> Rows:
    models = apps.get_app_config("courses").get_models()
    found = {model: list(model._base_manager.all()) for model in models}
    return {model: rows for model, rows in found.items() if rows}


def _is_empty() -> bool:
    """Return whether the tables are as the migrations leave them."""
    tables = [model._meta.db_table for model in apps.get_app_config("courses").get_models()]
    with connection.cursor() as cursor:
        # Own names, in one query.
        any_row = " OR ".join(f'EXISTS (SELECT 1 FROM "{table}")' for table in tables)  # noqa: S608
        cursor.execute(f"SELECT {any_row}")
        return not cursor.fetchone()[0]


def import_once(course: Path) -> None:
    """Import a course as any other; where it was imported before, put its rows back.

    Hundreds of tests begin with one. In a process the rows are those of its first import.
    """
    empty = _is_empty()
    if empty and course in _imported:
        with transaction.atomic():
            for model, rows in _imported[course].items():
                model._base_manager.bulk_create(rows)
        return
    assert not load_course(course).failed
    if empty:
        _imported[course] = _stored()


@pytest.fixture
def tiny_course(db: None) -> Course:
    import_once(TINY)
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
