"""Exercises are registered by their folder; the site sees names, limits, groups and starters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpu_worker.exercises import UnknownExerciseError, get, slugs
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.judge.verdict.compare import Sign, modified
from gpu_worker.messages.protocol import Track
from gpu_worker.tests.shipped import SHIPPED

PROJECT = Path(__file__).parents[2]


def chapter_of(slug: str) -> Any:
    """Return the chapter that the exercise's statement belongs to, as its file has it."""
    statement = yaml.safe_load((PROJECT / "grader" / "library" / f"{slug}.yaml").read_text("utf-8"))
    [path] = (PROJECT / "courses" / "library").glob(f"*/{statement['chapter']}/chapter.yaml")
    return yaml.safe_load(path.read_text("utf-8"))


def bank(slug: str) -> list[KnownMistake]:
    return list(get(slug).module("mistakes").MISTAKES)


def test_shipped_exercises_are_registered_with_their_tracks() -> None:
    assert set(slugs()) >= SHIPPED.keys()
    for slug, one in SHIPPED.items():
        assert (get(slug).class_name, get(slug).tracks) == (one.class_name, one.tracks)


def test_limits_carry_their_unit() -> None:
    units = ("seconds", "megabytes", "kilobytes", "threads")
    assert all(name.endswith(units) for name in get("rmsnorm").limits)
    assert get("rmsnorm").limits["wall_seconds"] == 10


def test_an_unknown_exercise_or_track_is_reported_with_alternatives() -> None:
    with pytest.raises(UnknownExerciseError, match="rmsnorm"):
        get("no_such_exercise")
    with pytest.raises(LookupError, match="numpy"):
        get("rmsnorm").starter("torch")


@pytest.mark.parametrize("slug", slugs())
def test_mistakes_point_to_things_that_exist(slug: str) -> None:
    groups = {group.id for group in get(slug).groups}
    chapter = chapter_of(slug)
    steps = {step["key"] for step in chapter["steps"]}
    formulas = {formula["key"] for formula in chapter["formulas"]}
    lines = {line["key"] for listing in chapter["listings"] for line in listing["lines"]}
    signs = {*Sign, *map(modified, ("x", "dout", *get(slug).parameters))}
    if Track.NUMPY not in get(slug).tracks:
        # Borrowed mistakes: their steps and lines belong to another chapter.
        steps, lines = {None}, {None}
    if slug not in SHIPPED:
        # Its page links to what they concern as far as they say so.
        steps, formulas, lines = {*steps, None}, {*formulas, None}, {*lines, None}
    for known in bank(slug):
        assert known.step in steps, known.id
        assert known.formula in formulas, known.id
        assert known.line in lines, known.id
        assert known.test in groups, known.id
        assert (known.variant is None) == (known.sign in signs)
        assert known.explanation.endswith(".")


@pytest.mark.parametrize("slug", SHIPPED)
def test_many_mistakes_are_known(slug: str) -> None:
    assert len({known.id for known in bank(slug)}) >= SHIPPED[slug].mistakes


def test_the_site_reads_the_registry_without_loading_numpy_or_the_judge() -> None:
    code = (
        "import sys; from gpu_worker.exercises import get, slugs;"
        "[get(s).starter(t) for s in slugs() for t in get(s).tracks];"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'gpu_worker.judge', 'django')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_worker_needs_nothing_of_the_site() -> None:
    code = (
        "import os, sys; os.environ['LEARNML_QUEUE_SOCKET'] = '/nowhere/queue.sock';"
        "sys.modules.update(dict.fromkeys(('django', 'yaml', 'rest_framework', 'markdown')));"
        "import gpu_worker.celery_app, gpu_worker.worker.tasks, gpu_worker.__main__;"
        "sys.exit(any(m.split('.')[0] in ('courses', 'grader', 'learnml') for m in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
