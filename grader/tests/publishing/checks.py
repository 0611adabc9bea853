"""What the tests of publishing send, and what they answer in place of a worker."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.test import Client
from django.urls import reverse

from gpu_worker.checking import Zygote
from gpu_worker.messages.checks import CheckJob, CheckUpdate
from gpu_worker.worker import exercise_checks
from grader.models import Exercise, ExerciseCheck
from grader.services.publishing import Answer, publish_exercise, standing_of
from grader.tests.conftest import FakeBroker
from grader.tests.messages import worker

ADD = "admin:grader_exercise_add"
DATA = {
    "slug": "rmsnorm",
    "title": "T",
    "position": "0",
    "summary": "S",
    "statement": "Given $x$.",
    "is_published": "on",
    "accepts_submissions": "on",
}
HIDDEN = {name: value for name, value in DATA.items() if name != "is_published"}


def found(job: dict[str, Any], **said: Any) -> CheckUpdate:
    """What a worker answers that found nothing wrong in any of ten steps."""
    said = {"next": 10, "steps": 10, "stored": 6, "graded": 10 - job["first"], **said}
    said.setdefault("digest", job["digest"])
    return CheckUpdate(check=job["check"], lease=job["lease"], node="n", first=job["first"], **said)


def let_workers_check(broker: FakeBroker) -> None:
    """Do what workers do, until nothing waits any more."""
    with Zygote() as zygote:
        while broker.checks:
            job = CheckJob.from_message(broker.checks.pop(0))
            worker.record_check(exercise_checks.take(job, zygote).to_message())


def published(client: Client, **changes: str) -> ExerciseCheck:
    """Ask for an exercise to be published; return its check."""
    response = client.post(reverse(ADD), {**DATA, **changes})
    assert response.status_code == 302, response.context["errors"]
    return ExerciseCheck.objects.latest("id")


def listed(client: Client) -> str:
    return client.get(reverse("admin:grader_exercise_changelist")).content.decode()


def publish(exercise: Exercise, **options: Any) -> Answer:
    exercise.refresh_from_db()
    with transaction.atomic():
        return publish_exercise(exercise, standing_of(exercise.slug), **options)
