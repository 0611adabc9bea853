from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from gpu_worker.exercises import get
from gpu_worker.tests.conftest import RIGHT
from grader.models import Exercise
from grader.services.exercises import save_exercise


@pytest.fixture
def root(db: None) -> User:
    return User.objects.create_superuser("root", password="root-password")


@pytest.fixture
def admin(client: Client, root: User) -> Client:
    client.force_login(root)
    return client


@pytest.fixture(autouse=True)
def _everything_is_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for a commit is done at once: the test's own transaction never ends."""
    monkeypatch.setattr("django.db.transaction.on_commit", lambda act, robust=False: act())


@pytest.fixture
def few_submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RMSNorm with one stored submission of each kind, in the folder returned."""
    exercise = get("rmsnorm")
    reference = "reference_numpy.py"
    (tmp_path / reference).write_bytes((exercise.folder / reference).read_bytes())
    for kind, outcome, source in (
        ("correct", "accepted", RIGHT),
        ("wrong", "wrong_answer", RIGHT.replace(" + self.eps", "")),
    ):
        folder = tmp_path / "submissions" / kind
        folder.mkdir(parents=True)
        (folder / "one.py").write_text(f"# outcome: {outcome}\n{source}", encoding="utf-8")
    few = dataclasses.replace(exercise, folder=tmp_path)
    monkeypatch.setattr("grader.services.publishing.find_spec", lambda slug: few)
    monkeypatch.setattr("gpu_worker.worker.exercise_checks.get", lambda slug: few)
    return tmp_path


@pytest.fixture
def loaded() -> Exercise:
    return save_exercise(Exercise(slug="rmsnorm", title="T", summary="S", statement="S"))
