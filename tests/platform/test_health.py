"""Probes: what they answer, to whom, and that they depend on nothing else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from model_bakery import baker
from pytest_django.fixtures import Settings

from grader.models import Exercise, Submission, WorkerNode
from learnml import health


@pytest.fixture(autouse=True)
def nothing_is_remembered(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    health.database_takes_writes.forget()
    health.queue_state.forget()


@pytest.fixture
def queue_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "queue_state", lambda: "ok")


def test_healthz_needs_neither_database_nor_queue(client: Client) -> None:
    # No database mark: a query would fail the test.
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response.headers["Cache-Control"] == "no-store"
    assert not response.cookies


def test_probes_answer_to_any_host_without_redirect(client: Client, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["learnml.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz", headers={"host": "10.0.0.7"}).status_code == 200


@pytest.mark.django_db
def test_ready_when_database_and_queue_answer(client: Client, queue_is_up: None) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "ready": True,
        "database": "ok",
        "queue": "ok",
        "oldest_queued_seconds": None,
        "workers": {"cpu": 0, "gpu": 0},
    }


@pytest.mark.django_db
def test_not_ready_without_the_queue(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["queue"] == "unreachable"
    assert response.json()["database"] == "ok"


def test_not_ready_without_the_database(client: Client, queue_is_up: None) -> None:
    with mock.patch.object(health.connection, "cursor", side_effect=DatabaseError("away")):
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "unreachable"


@pytest.mark.django_db
def test_not_ready_while_the_disk_is_full(
    client: Client, queue_is_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "ROOM_BYTES", 1 << 60)
    # A PostgreSQL on a disk that is full is in test_full_disk.py.
    monkeypatch.setattr(health, "FIND_ROOM_IN_POSTGRESQL", ("SELECT 1 / 0",))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["ready"]) == (503, False)
    assert response.json()["database"] == "read only"


@pytest.mark.django_db(transaction=True)
def test_another_writer_that_does_not_let_go_is_told_where_there_is_room_for_one(
    client: Client, queue_is_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "WRITE_PATIENCE_MS", 10)
    # SQLite has one writer at a time, PostgreSQL many.
    one_writer = connection.vendor == "sqlite"
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE" if one_writer else "BEGIN")
            cursor.execute("UPDATE django_migrations SET app = app")
        response = client.get("/readyz")
        assert response.status_code == (503 if one_writer else 200)
        assert response.json()["database"] == ("read only" if one_writer else "ok")
    finally:
        other.close()
    health.database_takes_writes.forget()
    assert client.get("/readyz").json()["database"] == "ok"
    with connection.cursor() as cursor:
        # Pages wait as long as before.
        cursor.execute("PRAGMA busy_timeout" if one_writer else "SHOW lock_timeout")
        assert cursor.fetchone() == ((20_000,) if one_writer else ("0",))


@pytest.mark.django_db
def test_probes_that_come_often_write_once(
    client: Client, queue_is_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(health, "REMEMBERED_SECONDS", 1_000.0)
    monkeypatch.setattr(health, "_find_room", looks.append)
    for _ in range(5):
        assert client.get("/readyz").status_code == 200
    assert len(looks) == (1 if connection.vendor == "sqlite" else 0)


@pytest.mark.django_db
def test_report_tells_workers_seen_lately_and_the_oldest_waiting_submission(
    client: Client, queue_is_up: None
) -> None:
    now = timezone.now()
    baker.make(WorkerNode, name="a", queue="cpu", last_seen_at=now)
    baker.make(WorkerNode, name="b", queue="cpu", last_seen_at=now - timedelta(seconds=60))
    baker.make(WorkerNode, name="gone", queue="gpu", last_seen_at=now - timedelta(minutes=5))
    exercise = baker.make(Exercise)
    waiting = baker.make(Submission, exercise=exercise, track="numpy", state="queued")
    Submission.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(seconds=42))
    report = client.get("/readyz").json()
    assert report["workers"] == {"cpu": 2, "gpu": 0}
    assert report["oldest_queued_seconds"] == pytest.approx(42, abs=5)


def test_probes_are_read_only(client: Client) -> None:
    response = client.post("/healthz")
    assert response.status_code == 405
    assert response.headers["Allow"] == "GET, HEAD"
