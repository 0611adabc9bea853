"""The results of checks that come with LearnML, and the command that records them."""

from __future__ import annotations

import dataclasses
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from gpu_worker.exercises import digests, get
from gpu_worker.tests.conftest import RIGHT
from gpu_worker.tests.shipped import SHIPPED
from grader import content


def test_each_exercise_that_comes_with_learnml_comes_checked_as_it_is() -> None:
    """Otherwise a first start publishes it after minutes of checking."""
    folders = {folder.name: folder for folder in digests.folders()}
    known = content.checked()
    as_they_are = {slug: digests.content_digest(folders[slug]) for slug in known}
    assert known == as_they_are, "Run manage.py record_checks."
    assert known.keys() >= SHIPPED.keys(), "Run manage.py record_checks."


@pytest.fixture(autouse=True)
def known(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "few" in request.fixturenames:
        monkeypatch.setattr(content, "CHECKED", tmp_path / "checked.json")
        content.write_checked({"rmsnorm": "as it was", "gone": "of no file"})


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RMSNorm with one stored submission of each kind, in the folder returned."""
    exercise = get("rmsnorm")
    folder = tmp_path / "rmsnorm"
    for kind, outcome, source in (
        ("correct", "accepted", RIGHT),
        ("wrong", "wrong_answer", RIGHT.replace(" + self.eps", "")),
    ):
        path = folder / "submissions" / kind / "one.py"
        path.parent.mkdir(parents=True)
        path.write_text(f"# outcome: {outcome}\n{source}", encoding="utf-8")
    changed = dataclasses.replace(exercise, folder=folder)
    monkeypatch.setattr("grader.management.commands.record_checks.get", lambda slug: changed)
    return folder


def record(*arguments: str) -> str:
    out = StringIO()
    call_command("record_checks", *arguments, stdout=out)
    return out.getvalue()


def test_what_passed_is_noted_and_not_checked_again(few: Path) -> None:
    assert "rmsnorm: passed with 4 programs" in record("rmsnorm")
    assert content.checked() == {"rmsnorm": digests.content_digest(few)}
    assert record("rmsnorm") == "rmsnorm: unchanged\n"
    assert "rmsnorm: passed with 4 programs" in record("rmsnorm", "--all")


def test_what_failed_is_forgotten_with_its_reason(few: Path) -> None:
    wrong = few / "submissions" / "wrong" / "one.py"
    wrong.write_text(f"# outcome: wrong_answer\n{RIGHT}", encoding="utf-8")
    with pytest.raises(CommandError, match="must end as wrong_answer, but ended as accepted"):
        record("rmsnorm")
    assert content.checked() == {}


def test_an_exercise_without_programs_has_passed_nothing(few: Path) -> None:
    for path in few.rglob("*.py"):
        path.unlink()
    with pytest.raises(CommandError, match="rmsnorm: It has no stored submissions"):
        record("rmsnorm")
    assert content.checked() == {}
