"""The how-to for authors, followed to the letter: its files make an exercise that grades."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpu_worker.exercises
from gpu_worker.exercises import get, slugs
from gpu_worker.exercises.stored import stored
from gpu_worker.judge.strength.checks import Fate, check_mutants, check_stored
from gpu_worker.sandbox.client import Zygote

PROJECT = Path(__file__).parents[2]
HOW_TO = PROJECT / "docs" / "how-to" / "add-an-exercise.md"
FILE = re.compile(r'^```(python|yaml) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
LOOKS_AT_EVERY_EXERCISE = (
    *(f"gpu_worker/tests/test_{name}.py" for name in ("registry", "references", "mistakes")),
    *(f"gpu_worker/tests/test_{name}.py" for name in ("stored_submissions", "home_script")),
    *(f"gpu_worker/tests/test_{name}.py" for name in ("cases", "command", "kinds", "digests")),
    *("gpu_worker/tests/test_strength.py", "gpu_worker/tests/gpu/test_stored_for_a_device.py"),
    *("grader/tests/test_exercises.py", "grader/tests/test_record_checks.py"),
    *("tests/docs/test_reference.py", "tests/apps/test_words_of_inputs.py"),
    "tests/platform/test_prepare.py",
)
OF_SOFTMAX = "softmax and not softmax_cross and not cross_entropy"
OF_ALL = (
    *("shipped_exercises_are", "unknown_exercise", "page_of_mistakes", "every_exercise_is_listed"),
    *("outcome_mistake_and_finding", "folders_are_those", "comes_checked", "library_loads"),
    *("preparing_again", "plans_name", "hints_are_for", "weights_of_every", "catalogue"),
)


def written(language: str) -> dict[str, str]:
    text = HOW_TO.read_text(encoding="utf-8")
    return {name: body for found, name, body in FILE.findall(text) if found == language}


def files() -> dict[str, str]:
    return written("python")


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


def test_the_part_in_the_engine_is_under_a_hundred_lines() -> None:
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


def test_the_tests_of_all_exercises_pass_after_adding_it(tmp_path: Path) -> None:
    """No test has to be changed for an exercise that an operator or a contributor adds."""
    copy = tmp_path / "LearnML"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "var", "node_modules")
    shutil.copytree(PROJECT, copy, ignore=left_out)
    exercise = copy / "gpu_worker" / "exercises" / "softmax"
    for path, text in (
        *((exercise / name, text) for name, text in files().items()),
        *((copy / name, text) for name, text in written("yaml").items()),
    ):
        assert not path.exists(), "The how-to changes a file that was there."
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chosen = " or ".join((f"({OF_SOFTMAX})", *OF_ALL))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"]
        + [*LOOKS_AT_EVERY_EXERCISE, "-k", chosen],
        cwd=copy,
        env={name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
    )
    said = done.stdout[-8_000:] + done.stderr[-2_000:]
    assert done.returncode == 0, said
    passed = re.findall(r"^(\S+) PASSED", done.stdout, re.MULTILINE)
    assert len([name for name in passed if re.search(r"\[(.*-)?softmax\b(?!_)", name)]) >= 25, said
    assert [name for name in OF_ALL if not any(name in one for one in passed)] == []
