"""The how-to for authors, followed to the letter: its files make an exercise that grades."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpu_worker.exercises
from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.stored import stored
from gpu_worker.judge.strength.checks import Fate, check_mutants, check_stored
from gpu_worker.sandbox.client import Zygote

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "add-an-exercise.md"
FILE = re.compile(r'^```python title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    return dict(FILE.findall(HOW_TO.read_text(encoding="utf-8")))


@pytest.fixture
def softmax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in files().items():
        path = tmp_path / "softmax" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    places = [*gpu_worker.exercises.__path__, str(tmp_path)]
    monkeypatch.setattr(gpu_worker.exercises, "__path__", places)
    get.cache_clear()
    slugs.cache_clear()
    yield
    for name in [name for name in sys.modules if name.startswith("gpu_worker.exercises.softmax")]:
        del sys.modules[name]
    vars(gpu_worker.exercises).pop("softmax", None)
    get.cache_clear()
    slugs.cache_clear()


def test_the_engines_part_is_under_a_hundred_lines() -> None:
    engine = {name: text for name, text in files().items() if not name.startswith("submissions/")}
    lines = [line for text in engine.values() for line in text.splitlines() if line.strip()]
    assert len(lines) < 100
    assert set(engine) == {
        "__init__.py", "reference_numpy.py", "cases.py", "mistakes.py", "starter_numpy.py"
    }  # fmt: skip


@pytest.mark.usefixtures("softmax")
def test_its_files_make_an_exercise_that_tells_right_from_wrong(zygote: Zygote) -> None:
    exercise = get("softmax")
    assert exercise.tracks == ("numpy",)
    assert [item.kind for item, _ in check_stored(exercise, zygote)] == ["correct", "wrong"]
    complaints = [complaint for _, complaint in check_stored(exercise, zygote, seeds=3)]
    assert complaints == ["", ""]
    assert stored(exercise, "wrong")[0].mistakes == {"projection-missing"}


@pytest.mark.usefixtures("softmax")
def test_its_cases_kill_mutants(zygote: Zygote) -> None:
    fates = [item.fate for item in check_mutants(get("softmax"), zygote, per_solution=8)]
    assert Fate.SURVIVED not in fates
    assert fates.count(Fate.KILLED) >= 6
