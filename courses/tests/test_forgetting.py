"""Visitors are forgotten when they cannot come back, and never before."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from courses.learners import learner_of
from courses.models import Chapter, Learner, QuizAttempt

from .conftest import CHAPTER_URL, answer_url

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=400)


def visitor() -> tuple[Client, Learner]:
    """Return a browser that has answered a question, and its learner, both long ago."""
    client, known = Client(), set(Learner.objects.values_list("pk", flat=True))
    client.post(answer_url("which"), {"choice": "two"})
    learner = Learner.objects.exclude(pk__in=known).get()
    Learner.objects.filter(pk=learner.pk).update(created_at=LONG_AGO)
    return client, learner


def test_only_those_who_cannot_come_back_are_forgotten(
    rows: Chapter, capsys: pytest.CaptureFixture[str]
) -> None:
    (here, known), (gone, _) = visitor(), visitor()
    new = Learner.objects.create()  # its session is not written yet
    account = learner_of(User.objects.create_user("learner"))
    Learner.objects.filter(pk=account.pk).update(created_at=LONG_AGO)
    expired = Session.objects.filter(pk=gone.session.session_key)
    expired.update(expire_date=timezone.now() - timedelta(seconds=1))

    call_command("forget_visitors")

    assert capsys.readouterr().out == "Visitors forgotten: 1.\n"
    assert set(Learner.objects.all()) == {known, new, account}
    assert set(QuizAttempt.objects.values_list("learner", flat=True)) == {known.pk}
    assert not expired.exists()
    assert here.get(CHAPTER_URL).context["quiz"].done == 1
