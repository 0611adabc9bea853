"""Migrations keep existing data."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.postgres

BEFORE = [("grader", "0006_worker_gpus")]
AFTER = [("grader", "0007_kinds_of_nodes")]
REPLACED = [("grader", "0008_replaced_verdicts")]
MOMENT = "2026-01-02T03:04:05Z"


@pytest.mark.django_db(transaction=True)
def test_verdicts_from_the_gpu_queue_are_those_of_devices() -> None:
    latest = list(MigrationExecutor(connection).loader.graph.leaf_nodes("grader"))
    old = _migrate(BEFORE)
    try:
        before = {queue: _submission(old, queue) for queue in ("cpu", "gpu")}
        new = _migrate(AFTER)
        Submission = new.get_model("grader", "Submission")
        for queue, kind in (("cpu", "functional"), ("gpu", "device")):
            submission = Submission.objects.get(pk=before[queue])
            assert (submission.kind, submission.outcome) == (kind, "accepted")
            assert submission.report == {"notes": [queue]}
            attempt = submission.attempts.get()
            assert (attempt.kind, attempt.queue, attempt.returns) == (kind, queue, 0)
        verdicts = new.get_model("grader", "SecondVerdict").objects
        assert not verdicts.exists()
        for submission in before.values():
            _not_graded(new, submission)
        again = new.get_model("grader", "Submission").objects.get(pk=before["cpu"])
        _lost(again, number=3, end_reason="worker lost")
        verdicts = _migrate(REPLACED).get_model("grader", "SecondVerdict").objects
        states = {"gpu": ("replaced", None), "cpu": ("finished", "not_gradable")}
        for queue, expected in states.items():
            verdict = verdicts.get(submission=before[queue])
            assert (verdict.state, verdict.outcome) == expected
            assert verdict.submission.attempts.get(number=2).state == "replaced"
    finally:
        _migrate(latest)


def _not_graded(apps: Any, pk: int) -> None:
    """Give a submission a second verdict that a newer one replaced, as the old tables hold it."""
    submission = apps.get_model("grader", "Submission").objects.get(pk=pk)
    apps.get_model("grader", "SecondVerdict").objects.create(
        submission=submission,
        kind="device",
        state="finished",
        outcome="not_gradable",
        report={"failure": {"message": "Replaced."}},
        finished_at=MOMENT,
    )
    _lost(submission, number=2, end_reason="a newer submission took its place")


def _lost(submission: Any, **fields: Any) -> None:
    submission.attempts.create(
        kind="device", queue="gpu", state="lost", finished_at=MOMENT, **fields
    )


def _migrate(target: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    return executor.migrate(target).apps


def _submission(apps: Any, queue: str) -> int:
    """Make a finished submission as the old tables hold it; return its key."""
    user = apps.get_model("auth", "User").objects.create(username=queue)
    exercise, _ = apps.get_model("grader", "Exercise").objects.get_or_create(
        slug="rmsnorm", defaults={"title": "RMSNorm"}
    )
    submission = apps.get_model("grader", "Submission").objects.create(
        public_id=f"abcdefghij{queue}",
        user=user,
        exercise=exercise,
        track="cupy",
        source="x = 1",
        source_sha256="a" * 64,
        source_bytes=5,
        state="finished",
        outcome="accepted",
        score=1.0,
        report={"notes": [queue]},
        finished_at=MOMENT,
    )
    submission.attempts.create(
        number=1, queue=queue, state="finished", outcome="accepted", finished_at=MOMENT
    )
    return int(submission.pk)
