"""The digest of an exercise changes if and only if something its check depends on changes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_worker.exercises import digests, slugs
from gpu_worker.exercises.digests import check_digest, content_digest, engine_digest

Change = Callable[[Path], object]


def replaced(name: str, old: str, new: str) -> Change:
    def change(root: Path) -> None:
        path = root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of some of the engine, with the digests taken of it; return its exercises."""
    copy = tmp_path / "gpu_worker"
    for part in ("exercises", "judge"):
        others = shutil.ignore_patterns("__pycache__", "layernorm*", "cupy")
        shutil.copytree(digests._ENGINE / part, copy / part, ignore=others)
    (copy / "tests").mkdir()
    monkeypatch.setattr(digests, "_ENGINE", copy)
    monkeypatch.setattr(digests, "_EXERCISES", copy / "exercises")
    return copy / "exercises"


@pytest.mark.parametrize(
    "change",
    [
        replaced("rmsnorm/cases.py", "Group(", "Group (weight=1, *"),
        replaced("rmsnorm/reference_numpy.py", "self.eps", "(2 * self.eps)"),
        replaced("rmsnorm/__init__.py", "title=", "name="),
        lambda root: (root / "rmsnorm/mistakes/new.py").write_text("NEW = 1"),
        # Of the stored programs each character counts: what they expect is in a comment.
        lambda root: next((root / "rmsnorm/submissions/wrong").glob("*.py")).unlink(),
        lambda root: (root / "rmsnorm/submissions/correct/new.py").write_text(
            "# outcome: accepted"
        ),
        # Borrowed by it: the modules that exercises share.
        replaced("accumulate.py", "def ", "def another_"),
        lambda root: (root / "rmsnorm/data.json").write_text("{}"),
    ],
)
def test_the_digest_covers_what_the_check_depends_on(engine: Path, change: Change) -> None:
    folder = engine / "rmsnorm"
    before = content_digest(folder), check_digest(folder)
    change(engine)
    after = content_digest(folder), check_digest(folder)
    assert before[0] != after[0]
    assert before[1] != after[1]


@pytest.mark.parametrize(
    "change",
    [
        replaced("rmsnorm/cases.py", "GROUPS: Final", "# Another comment.\nGROUPS  :  Final"),
        replaced("rmsnorm/reference_numpy.py", '"""RMS', '"""This is RMS'),
        lambda root: (root / "rmsnorm/__pycache__").mkdir(),
        lambda root: (root / "rmsnorm/.cases.py.swp").write_text("x"),
        # For a device, which no check has.
        lambda root: (root / "rmsnorm/submissions/device/new.py").write_text("x = 1"),
        lambda root: (root / "softmax_cross_entropy/cases.py").write_text("GROUPS = ()"),
        lambda root: shutil.copytree(root / "rmsnorm", root / "another"),
    ],
)
def test_comments_and_other_exercises_do_not_change_the_digest(
    engine: Path, change: Change
) -> None:
    folder = engine / "rmsnorm"
    before = content_digest(folder)
    change(engine)
    assert content_digest(folder) == before


def test_a_shared_module_may_move(engine: Path) -> None:
    before = content_digest(engine / "rmsnorm")
    (engine / "shared").mkdir()
    (engine / "shared" / "__init__.py").write_text("")
    (engine / "accumulate.py").rename(engine / "shared" / "accumulate.py")
    for path in engine.rglob("*.py"):
        if "submissions" not in path.parts:
            text = path.read_text(encoding="utf-8")
            moved = text.replace("exercises.accumulate", "exercises.shared.accumulate")
            path.write_text(moved, encoding="utf-8")
    assert content_digest(engine / "rmsnorm") == before


def test_borrowed_modules_count_for_the_borrower(engine: Path) -> None:
    before = content_digest(engine / "rmsnorm_two_kernels")
    replaced("rmsnorm/reference_numpy.py", "self.eps", "(2 * self.eps)")(engine)
    assert content_digest(engine / "rmsnorm_two_kernels") != before


def test_the_engine_counts_by_its_bytes_and_without_the_exercises(engine: Path) -> None:
    before, check = engine_digest(), check_digest(engine / "rmsnorm")
    replaced("rmsnorm/cases.py", "GROUPS", "OTHERS")(engine)
    shutil.copytree(engine / "rmsnorm", engine / "another")
    (engine.parent / "tests" / "new.py").write_text("x = 1")
    assert engine_digest() == before
    with sorted((engine.parent / "judge").rglob("*.py"))[-1].open("a") as file:
        file.write("# A comment.")
    assert engine_digest() != before
    assert check_digest(engine / "rmsnorm") != check


def test_a_module_that_cannot_be_imported_counts_by_its_bytes(engine: Path) -> None:
    path = engine / "rmsnorm" / "cases.py"
    seen = {content_digest(engine / "rmsnorm")}
    for text in ("GROUPS = (", "GROUPS = [", "\0"):
        path.write_text(text)
        seen.add(content_digest(engine / "rmsnorm"))
    assert len(seen) == 4


def test_the_folders_are_those_of_the_registry() -> None:
    assert tuple(folder.name for folder in digests.folders()) == slugs()
