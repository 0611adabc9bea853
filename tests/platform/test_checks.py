"""System checks: each unsafe configuration is named."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.checks import run_checks
from pytest_django.fixtures import Settings

from tests.platform.instance import PROJECT

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "learnml.settings.production",
    "LEARNML_SECRET_KEY": "abcdefghij-0123456789-ABCDEFGHIJ-abcdefghij-0123456789",
    "LEARNML_ALLOWED_HOSTS": "learnml.example.org",
    "DATABASE_URL": "postgres://learnml@localhost/learnml",
    "REDIS_URL": "redis://worker:password@localhost:6379/0",
    "LEARNML_CACHE_URL": "redis://localhost:6380/0",
}


def found(deploy: bool = False) -> set[str]:
    messages = run_checks(include_deployment_checks=deploy)
    return {message.id for message in messages if (message.id or "").startswith("learnml.")}


def check_deploy(**changes: str) -> subprocess.CompletedProcess[str]:
    command = ["manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(
        [sys.executable, *command],
        cwd=PROJECT,
        env={**os.environ, **PRODUCTION, **changes},
        capture_output=True,
        text=True,
    )


def test_tests_and_local_settings_pass() -> None:
    assert found() == set()


def test_queue_that_hands_out_running_tasks_is_refused(settings: Settings) -> None:
    settings.QUEUE_VISIBILITY_TIMEOUT_SECONDS = settings.QUEUE_HARD_TIME_LIMIT_SECONDS
    assert found() == {"learnml.E001"}


def test_heartbeat_timeout_below_two_heartbeats_is_refused(settings: Settings) -> None:
    settings.GRADING = {
        **settings.GRADING,
        "HEARTBEAT_TIMEOUT_SECONDS": 9,
        "HEARTBEAT_INTERVAL_SECONDS": 5,
    }
    assert found() == {"learnml.E002"}


@pytest.mark.parametrize(
    ("name", "value", "identifier"),
    [
        ("DEMO_ACCOUNTS_ALLOWED", True, "learnml.E003"),
        ("SECRET_KEY", "short", "learnml.E004"),
        ("SECRET_KEY", "changeme" * 10, "learnml.E004"),
        ("ALLOWED_HOSTS", ["*"], "learnml.E005"),
        ("REDIS_URL", "", "learnml.W001"),
    ],
)
def test_unsafe_production_setting_is_named(
    settings: Settings, name: str, value: object, identifier: str
) -> None:
    setattr(settings, name, value)
    assert identifier in found(deploy=True)


def test_production_settings_with_a_proper_environment_pass() -> None:
    result = check_deploy()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("LEARNML_SECRET_KEY", "short", "learnml.E004"),
        ("LEARNML_ALLOWED_HOSTS", "*", "learnml.E005"),
        ("REDIS_URL", "", "learnml.W001"),
        ("LEARNML_CACHE_URL", "", "learnml.E006"),
        ("LEARNML_CACHE_URL", "redis://worker:password@localhost/1", "learnml.E006"),
        ("DATABASE_URL", "", "learnml.W002"),
    ],
)
def test_production_environment_that_lacks_something_fails(
    variable: str, value: str, expected: str
) -> None:
    result = check_deploy(**{variable: value})
    assert result.returncode != 0
    assert expected in result.stderr


def test_cache_on_the_queues_server_as_another_user_passes() -> None:
    result = check_deploy(LEARNML_CACHE_URL="redis://cache:password@localhost:6379/0")
    assert result.returncode == 0, result.stderr


def test_production_without_a_secret_key_does_not_load() -> None:
    environment = {k: v for k, v in PRODUCTION.items() if k != "LEARNML_SECRET_KEY"}
    result = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=PROJECT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert "LEARNML_SECRET_KEY" in result.stderr
