"""Enums that site and engine share are defined once, by the engine."""

from __future__ import annotations

from enum import StrEnum

import pytest
from django.core.management import call_command
from django.db import models

from gpu_worker.messages import protocol, runs
from grader.models import NodeKind, Outcome, Phase, RunKind, RunOutcome, Track
from grader.models.states import labels

SHARED = (
    (Outcome, protocol.Outcome),
    (Track, protocol.Track),
    (NodeKind, protocol.NodeKind),
    (Phase, protocol.Phase),
    (RunKind, runs.RunKind),
    (RunOutcome, runs.RunOutcome),
)


@pytest.mark.parametrize(("choices", "engine"), SHARED, ids=lambda each: each.__module__)
def test_choices_have_the_engines_values_and_labels_of_their_own(
    choices: type[models.TextChoices], engine: type[StrEnum]
) -> None:
    assert [(each.name, each.value) for each in choices] == [(e.name, e.value) for e in engine]
    # Plain texts, as migrations write them down.
    assert {type(value) for value, _ in choices.choices} == {str}
    assert all(choices.labels)


class Light(StrEnum):
    RED = "red"
    GREEN = "green"


def test_a_member_of_the_engine_without_a_label_keeps_the_site_from_starting() -> None:
    class OnlyRed(models.TextChoices):
        RED = Light.RED, "stop"

    with pytest.raises(TypeError, match=r"OnlyRed has RED and .*Light has RED, GREEN\. Give each"):
        labels(Light)(OnlyRed)


def test_a_label_without_its_member_keeps_the_site_from_starting() -> None:
    class Three(models.TextChoices):
        RED = Light.RED, "stop"
        GREEN = Light.GREEN, "go"
        AMBER = "amber", "wait"

    with pytest.raises(TypeError, match="AMBER"):
        labels(Light)(Three)


@pytest.mark.django_db
def test_the_choices_need_no_migration() -> None:
    call_command("makemigrations", "grader", check=True, dry_run=True, verbosity=0)
