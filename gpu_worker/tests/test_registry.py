"""Exercises are registered by their folder; the site sees names, limits, groups and starters."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpu_worker.exercises import UnknownExerciseError, get, slugs
from gpu_worker.exercises.bank import KnownMistake
from gpu_worker.judge.compare import Sign

STEPS = {"definition", "rms-gradient", "chain-rule", "jacobian", "result", "dgamma"}
FORMULAS = {"universal-approximation", "layernorm", "rmsnorm", "scale-invariance"}
LINES = {"init-gamma", "mean-square", "rstd", "xhat", "scale", "dgamma", "projection", "dx"}


def bank(slug: str) -> list[KnownMistake]:
    return list(get(slug).module("mistakes").MISTAKES)


def test_both_exercises_are_there_with_both_tracks() -> None:
    assert slugs() == ("layernorm", "rmsnorm")
    assert [get(slug).class_name for slug in slugs()] == ["LayerNormScratch", "RMSNormScratch"]
    assert all(get(slug).tracks == ("numpy", "cupy") for slug in slugs())


def test_limits_carry_their_unit() -> None:
    units = ("seconds", "megabytes", "kilobytes", "threads")
    assert all(name.endswith(units) for name in get("rmsnorm").limits)
    assert get("rmsnorm").limits["wall_seconds"] == 10


def test_an_unknown_exercise_and_an_unknown_track_say_what_there_is() -> None:
    with pytest.raises(UnknownExerciseError, match="rmsnorm"):
        get("softmax")
    with pytest.raises(LookupError, match="numpy"):
        get("rmsnorm").starter("torch")


@pytest.mark.parametrize("slug", slugs())
def test_mistakes_point_to_things_that_exist(slug: str) -> None:
    groups = {group.id for group in get(slug).groups}
    assert len({known.id for known in bank(slug)}) >= 20
    for known in bank(slug):
        assert known.step in STEPS, known.id
        assert known.formula in FORMULAS, known.id
        assert known.line in LINES, known.id
        assert known.test in groups, known.id
        assert (known.variant is None) == (known.sign in set(Sign))
        assert known.explanation.endswith(".")


def test_the_site_reads_the_registry_without_loading_numpy_or_the_judge() -> None:
    code = (
        "import sys; from gpu_worker.exercises import get, slugs;"
        "[get(s).starter('numpy') for s in slugs()];"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'gpu_worker.judge', 'django')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_worker_needs_nothing_of_the_site() -> None:
    code = (
        "import os, sys; os.environ['LEARNML_QUEUE_SOCKET'] = '/nowhere/queue.sock';"
        "sys.modules.update(dict.fromkeys(('django', 'yaml', 'rest_framework', 'markdown')));"
        "import gpu_worker.celery_app, gpu_worker.tasks, gpu_worker.__main__;"
        "sys.exit(any(m.split('.')[0] in ('courses', 'grader', 'learnml') for m in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
