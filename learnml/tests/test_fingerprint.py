"""A start renders the pages again when anything that they depend on has changed."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from courses.content import schema
from courses.figures import svg
from courses.publishing import builder
from courses.rendering import model
from learnml import roles
from learnml.supervisor.fingerprint import DATABASE_SOURCES, fingerprint

PROJECT = Path(roles.__file__).resolve().parent.parent


@pytest.mark.parametrize("module", [schema, svg, builder, model, roles], ids=lambda m: m.__name__)
def test_what_makes_pages_is_part_of_the_fingerprint(module: ModuleType, tmp_path: Path) -> None:
    """`PAGE_VERSION`, which authors of figures are told to raise, is in `builder`."""
    assert changes_it(Path(module.__file__ or ""), tmp_path)


def test_so_are_the_programs_that_decide_whether_an_exercise_is_published(tmp_path: Path) -> None:
    stored = PROJECT / "gpu_worker/exercises/rmsnorm/submissions/correct"
    assert changes_it(next(stored.glob("*.py")), tmp_path)


def changes_it(path: Path, tmp_path: Path) -> bool:
    copy = tmp_path / path.relative_to(PROJECT)
    copy.parent.mkdir(parents=True)
    copy.write_bytes(path.read_bytes())
    before = fingerprint(tmp_path, DATABASE_SOURCES)
    copy.write_bytes(path.read_bytes() + b"# changed")
    return fingerprint(tmp_path, DATABASE_SOURCES) != before
