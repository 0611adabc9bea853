"""The measurement of how many mistakes the tests see."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.mutation import __main__ as mutation
from bench.mutation import contained
from bench.mutation.places import GROUNDS, RULES, draw, found_in, places
from bench.mutation.suite import NO_TEST, Ran, Suite, likely_first

SOURCE = '''"""At most 7."""
LIMIT = 3


def f(x: int, names: list[str]) -> int:
    """Adds 1."""
    total = 0
    if x < 10 and (
        x
        not in names
    ):
        total += 5
    log.info("é of 3")
    names.append(f"{x + 1}")
    return total
'''


def test_each_rule_changes_one_place() -> None:
    found = found_in(SOURCE, "site", "a.py")
    changes = {(mutant.rule, mutant.was, mutant.becomes) for mutant in found}
    assert changes == {
        ("comparison", "x < 10", "(x >= 10)"),
        ("comparison", "x\n        not in names", "(x in names)"),
        ("constant", "0", "1"),
        ("constant", "10", "11"),
        ("constant", "5", "6"),
        (
            *("condition", "x < 10 and (\n        x\n        not in names\n    )"),
            "(not (x < 10 and (\n        x\n        not in names\n    )))",
        ),
        ("statement", "total += 5", "pass"),
        ("statement", 'names.append(f"{x + 1}")', "pass"),
    }
    for mutant in found:
        assert mutant.applied(SOURCE) == SOURCE.replace(mutant.was, mutant.becomes, 1)


def test_a_mutant_of_another_source_is_refused() -> None:
    mutant = found_in(SOURCE, "site", "a.py")[0]
    with pytest.raises(ValueError, match=r"a\.py"):
        mutant.applied(f"# more\n{SOURCE}")


@pytest.mark.parametrize("ground", GROUNDS)
def test_as_many_of_each_rule_are_drawn_from_many_files(ground: str) -> None:
    found = places(mutation.ROOT, ground)
    mutants = draw(mutation.ROOT, found, 40, seed=1)
    assert Counter(mutant.rule for mutant in mutants) == dict.fromkeys(RULES, 10)
    assert len({mutant.path for mutant in mutants}) == 40
    assert not [mutant for mutant in mutants if "/tests/" in mutant.path]
    assert mutants == draw(mutation.ROOT, found, 40, seed=1)
    assert mutants != draw(mutation.ROOT, found, 40, seed=2)


class Runs:
    """Answers for the tests: which fail with a mutant, and which whether it is there or not."""

    def __init__(self, seeing: str = "", flaky: str = "") -> None:
        self.mutated = False
        self.seeing, self.flaky = seeing, flaky
        self.told: list[Sequence[str]] = []

    def mutate(self, there: bool) -> None:
        self.mutated = there

    def __call__(self, arguments: Sequence[str]) -> Ran:
        self.told.append(arguments)
        chosen = [argument for argument in arguments if not argument.startswith("--")]
        seen = self.mutated and (not chosen or self.seeing in chosen or self.seeing == "likely")
        flakes = self.flaky and f"--deselect={self.flaky}" not in arguments
        failed = [self.flaky] * bool(flakes) + [self.seeing] * bool(self.seeing and seen)
        return Ran(tuple(failed), timed_out=False, seconds=1.0)


def test_a_mutant_that_a_likely_test_sees_costs_no_whole_run() -> None:
    runs = Runs(seeing="likely")
    found = mutation.found_by(runs, runs.mutate, [["test_a.py"], []])
    assert found == {"caught": True, "by": "likely", "seconds": 1.0}
    assert runs.told == [["test_a.py"], ["likely"], ["likely"]]
    assert not runs.mutated


def test_others_are_looked_for_in_all_tests() -> None:
    runs = Runs(seeing="test_b.py::far")
    assert mutation.found_by(runs, runs.mutate, [["test_a.py"], []])["by"] == "test_b.py::far"
    blind = Runs()
    found = mutation.found_by(blind, blind.mutate, [["test_a.py"], []])
    assert (found["caught"], found["seconds"]) == (False, 2.0)


def test_a_test_that_fails_without_a_mutant_catches_nothing() -> None:
    runs = Runs(flaky="test_a.py::clock")
    found = mutation.found_by(runs, runs.mutate, [["test_a.py"], []])
    assert (found["caught"], found["flaky"]) == (False, ["test_a.py::clock"])


# --- real runs ------------------------------------------------------------------------------------
@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one module and its test, with this one's environment."""
    root = tmp_path / "small"
    (root / "grader").mkdir(parents=True)
    (root / "grader" / "adding.py").write_text(SOURCE.replace("log.info", "print"))
    (root / "grader" / "unseen.py").write_text("def g():\n    return 4\n")
    (root / "tests").mkdir()
    (root / "tests" / "test_adding.py").write_text(
        "from grader.adding import f\n\n\ndef test_f():\n    assert f(3, []) == 5\n"
    )
    (root / "pytest.ini").write_text("[pytest]\npythonpath = .\nmarkers = long\n")
    (root / "conftest.py").write_text(
        "import hypothesis\n\nfor name in ('fewer', 'full'):\n"
        "    hypothesis.settings.register_profile(name)\n"
    )
    (root / ".gitignore").write_text(".venv-test\n")
    (root / ".venv-test").symlink_to(Path(sys.prefix))
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "All"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    monkeypatch.setattr(mutation, "ROOT", root)
    monkeypatch.setattr(mutation, "FOLDER", tmp_path)
    monkeypatch.setattr("bench.results.FOLDER", tmp_path)
    for variable in ("DJANGO_SETTINGS_MODULE", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(variable, raising=False)
    return root


def entry(root: Path, path: str, was: str) -> dict[str, Any]:
    found = found_in((root / path).read_text(), "site", path)
    (mutant,) = [mutant for mutant in found if mutant.was == was]
    return {**mutant.as_dict(), "tiers": {}}


@pytest.mark.long("Mutants are measured before a release, and each part is tested by itself.")
def test_what_is_found_is_kept_and_not_tried_again(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {
        "revision": mutation.git("rev-parse", "HEAD"),
        "seed": 1,
        "mutants": [
            entry(project, "grader/adding.py", "5"),
            entry(project, "grader/unseen.py", "4"),
        ],
    }
    mutation.run_tier(data, "usual", at_most=1, minutes=10)
    kept = json.loads((tmp_path / "mutation.json").read_text())
    seen, later = (mutant["tiers"] for mutant in kept["mutants"])
    assert seen["usual"]["caught"]
    assert seen["usual"]["by"] == "tests/test_adding.py::test_f"
    assert later == {}
    mutation.run_tier(kept, "usual", at_most=-1, minutes=10)
    assert not kept["mutants"][1]["tiers"]["usual"]["caught"]
    mutation.run_tier(kept, "long", at_most=-1, minutes=10)
    assert kept["mutants"][0]["tiers"]["long"] == seen["usual"]
    text = mutation.report(kept)
    assert "usual, site, constant: 1 of 2, 50%" in text
    assert "usual: grader/unseen.py:2: '4' -> '5'" in text
    assert subprocess.run(["git", "diff", "--quiet"], cwd=project).returncode == 0
    assert len(mutation.git("worktree", "list").splitlines()) == 1


def test_what_never_ends_is_given_up_with_all_that_it_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    endless = f"setsid sh -c 'echo $$ > {pid}; exec sleep 86400' & wait"
    seconds = 1
    while not (pid.exists() and pid.read_text()):
        command = [sys.executable, "-I", contained.__file__, str(seconds), "sh", "-c", endless]
        assert subprocess.run(command).returncode == contained.OUT_OF_TIME
        # On a busy machine it takes longer until there is something to end.
        seconds *= 2
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()


def test_a_program_that_cannot_be_imported_is_no_test(project: Path) -> None:
    (project / "grader" / "adding.py").write_text("def f(:\n")
    assert Suite(project, "usual", minutes=10).run([]).failed != ()
    (project / "conftest.py").write_text("raise ImportError\n")
    assert Suite(project, "usual", minutes=10).run([]).failed == (NO_TEST,)


def test_the_tests_of_a_module_come_first(project: Path) -> None:
    (project / "tests" / "test_another.py").write_text("def test_g():\n    pass\n")
    assert likely_first(project, "grader/adding.py")[0] == "tests/test_adding.py"
