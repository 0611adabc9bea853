"""Round trips from files to the database and back: lossless and canonical."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from courses.content import yaml_format
from courses.content.importer import load_course
from courses.management.commands.check_course import check_course
from courses.management.commands.load_course import LIBRARY
from courses.models import Course, Formula

from .conftest import TINY

COURSES = [TINY, *sorted(path.parent for path in LIBRARY.glob("*/course.yaml"))]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.django_db
@pytest.mark.parametrize("folder", COURSES, ids=lambda path: path.name)
def test_export_of_an_import_is_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert not load_course(folder).failed
    call_command("export_course", str(tmp_path), course=folder.name, verbosity=0)
    assert tree(tmp_path / folder.name) == tree(folder)


@pytest.mark.parametrize("folder", COURSES, ids=lambda path: path.name)
def test_courses_have_no_mistakes_and_the_canonical_form(folder: Path) -> None:
    assert check_course(folder) == []


@pytest.mark.django_db
def test_a_course_that_went_through_the_database_twice_is_the_same(tmp_path: Path) -> None:
    load_course(TINY)
    call_command("export_course", str(tmp_path / "one"), verbosity=0)
    Course.objects.get().delete()
    load_course(tmp_path / "one" / "tiny-course")
    call_command("export_course", str(tmp_path / "two"), verbosity=0)
    assert (
        tree(tmp_path / "one")
        == tree(tmp_path / "two")
        == {f"tiny-course/{name}": data for name, data in tree(TINY).items()}
    )


@pytest.mark.django_db
def test_texts_arrive_character_by_character() -> None:
    load_course(TINY)
    formula = Formula.objects.get(key="mean")
    assert formula.tex == "\\mu = \\frac{1}{D} \\sum_{i=1}^{D} x_i\n"
    assert formula.chapter.listings.get(filename="notes.txt").code == "no line end, a tab\there"
    assert [symbol.tex for symbol in formula.symbols.all()] == ["x_i", "D"]


def test_check_course_can_write_the_canonical_form(course_files: Path) -> None:
    path = course_files / "columns" / "chapter.yaml"
    canonical = path.read_bytes()
    path.write_bytes(canonical.replace(b"minutes: 5", b"# a comment\nminutes:   5"))
    assert "not in the canonical form" in check_course(course_files)[0]
    check_course(course_files, write=True)
    assert path.read_bytes() == canonical


NASTY = st.text(
    st.one_of(
        st.sampled_from("\n\n\n  \t\r#-:|>'\"$\\{}[]&*!%@`\u2028\x85\ufeff\u00e9\U0001f600"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=120,
)
DATA = st.recursive(
    NASTY | st.none() | st.booleans() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(DATA)
def test_yaml_is_read_back_as_it_was_written(data: Any) -> None:
    text = yaml_format.dump(data)
    assert yaml_format.load(text) == data
    assert yaml_format.dump(yaml_format.load(text)) == text


def test_yaml_writes_long_and_many_lined_text_as_blocks() -> None:
    assert yaml_format.dump({"a": "x\ny\n", "b": "w " * 60 + "w"}) == (
        "a: |\n  x\n  y\nb: |-\n  " + "w " * 60 + "w\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "stands here twice"),
        ("a: &x [1]\nb: *x\n", "aliases"),
        ("a: !!python/object/apply:os.system [ls]\n", "constructor"),
        ("a: [1\n", "expected"),
    ],
)
def test_yaml_refuses_anything_but_plain_values(text: str, said: str) -> None:
    with pytest.raises(yaml.YAMLError, match=said):
        yaml_format.load(text)


def test_yaml_keeps_dates_as_text() -> None:
    assert yaml_format.load("title: 2024-01-01\n") == {"title": "2024-01-01"}
