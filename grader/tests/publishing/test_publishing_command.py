"""`manage.py publish_exercise`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from grader import services
from grader.models import AuditAction, AuditEntry, Exercise
from grader.tests.conftest import FakeBroker

from .checks import found

pytestmark = pytest.mark.django_db


# --- the command ----------------------------------------------------------------------------------
def command(*arguments: str) -> str:
    out = StringIO()
    call_command("publish_exercise", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_waits_for_workers_and_says_how_far_they_are(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(seconds: float) -> None:
        first = broker.checks[-1]["first"]
        services.record_check(found(broker.checks[-1], next=min(first + 5, 10)))

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", work)
    text = command("rmsnorm")
    assert "rmsnorm: is being checked: 5 of 10 programs graded\nrmsnorm: published" in text
    loaded.refresh_from_db()
    assert loaded.is_published
    entry = AuditEntry.objects.get(action=AuditAction.EXERCISE_PUBLISHED)
    assert (entry.actor, entry.origin) == (None, "server")
    assert command("rmsnorm") == "rmsnorm: published\n"


def test_the_command_fails_with_the_reason(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work(seconds: float) -> None:
        services.record_check(found(broker.checks[-1], survived="one with line 3 changed"))

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", work)
    with pytest.raises(CommandError, match="rmsnorm: The cases miss a mistake: one with line 3"):
        command("rmsnorm")
    for path in few_submissions.glob("submissions/*/*.py"):
        path.unlink()
    with pytest.raises(CommandError, match="has no stored submissions"):
        command("rmsnorm")
    with pytest.raises(CommandError, match="There is no exercise nothing here"):
        command("nothing")


def test_the_command_that_is_interrupted_leaves_the_check_to_go_on(
    loaded: Exercise,
    broker: FakeBroker,
    few_submissions: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.management.commands.publish_exercise.sleep", interrupt)
    with pytest.raises(CommandError, match="The check of rmsnorm goes on") as error:
        command("rmsnorm")
    assert error.value.returncode == 130
    assert services.record_check(found(broker.checks[0]))


def test_the_command_need_not_wait(
    loaded: Exercise, broker: FakeBroker, few_submissions: Path
) -> None:
    assert command("rmsnorm", "--no-wait") == "rmsnorm: is being checked\n"
    assert len(broker.checks) == 1
    loaded.refresh_from_db()
    assert not loaded.is_published
