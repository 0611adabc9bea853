"""The tiny course of the tests: as files, in the database, and ways to answer it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

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


@pytest.fixture
def tiny_course(db: None) -> Course:
    report = load_course(TINY)
    assert not report.failed
    return Course.objects.get(slug="tiny-course")


@pytest.fixture
def rows(tiny_course: Course) -> Chapter:
    return Chapter.objects.select_related("current_revision").get(slug="rows")


def answer_url(question_key: str) -> str:
    return f"{CHAPTER_URL}questions/{question_key}/answer"
