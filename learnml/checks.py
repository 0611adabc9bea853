"""System checks: settings that would lose work or open a door are refused with a reason."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from learnml.environment import is_weak_key

DEFAULT_REDIS_PORT: Final = 6379


@register(Tags.compatibility)
def check_queue_times(**kwargs: Any) -> list[CheckMessage]:
    """A task that may outlast the queue's visibility timeout would be delivered twice."""
    visibility = settings.QUEUE_VISIBILITY_TIMEOUT_SECONDS
    hard_limit = settings.QUEUE_HARD_TIME_LIMIT_SECONDS
    messages: list[CheckMessage] = []
    if visibility <= hard_limit:
        messages.append(
            Error(
                f"The queue hands a task out again after {visibility} s, but a task may run for "
                f"{hard_limit} s.",
                hint="Raise LEARNML_VISIBILITY_TIMEOUT_SECONDS, on the site and on all workers.",
                id="learnml.E001",
            )
        )
    heartbeat = settings.GRADING["HEARTBEAT_TIMEOUT_SECONDS"]
    if heartbeat < 2 * settings.GRADING["HEARTBEAT_INTERVAL_SECONDS"]:
        messages.append(
            Error(
                f"A worker counts as lost after {heartbeat} s, less than two of its heartbeats.",
                hint="Raise LEARNML_HEARTBEAT_TIMEOUT_SECONDS.",
                id="learnml.E002",
            )
        )
    return messages


@register(Tags.security, deploy=True)
def check_production(**kwargs: Any) -> list[CheckMessage]:
    """Settings that are fine on one's own machine and wrong on a server."""
    return [*_secrets(), *_services()]


def _secrets() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if settings.DEMO_ACCOUNTS_ALLOWED:
        messages.append(
            Error(
                "Demo accounts are allowed: their password is printed and stored.",
                hint="Use DJANGO_SETTINGS_MODULE=learnml.settings.production.",
                id="learnml.E003",
            )
        )
    if is_weak_key(settings.SECRET_KEY):
        messages.append(
            Error(
                "LEARNML_SECRET_KEY is short or a placeholder; sessions could be forged.",
                hint="Make one: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
                id="learnml.E004",
            )
        )
    if "*" in settings.ALLOWED_HOSTS:
        messages.append(
            Error(
                "Every host name is allowed; links in e-mails could point anywhere.",
                hint="List the site's names in LEARNML_ALLOWED_HOSTS.",
                id="learnml.E005",
            )
        )
    return messages


def _services() -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if not settings.REDIS_URL:
        messages.append(
            Warning(
                "The embedded queue is used; it reaches workers on this machine only.",
                hint="Set REDIS_URL to a Redis or Valkey server.",
                id="learnml.W001",
            )
        )
    elif not settings.CACHE_URL or _server(settings.CACHE_URL) == _server(settings.REDIS_URL):
        messages.append(
            Error(
                "The cache shares its server with the queue, or has none: workers could change "
                "what limits sign-ins and calls, or nothing would limit them.",
                hint="Set LEARNML_CACHE_URL to another Redis or Valkey server, or to the same one "
                "as a user of its own: see docs/how-to/run-with-postgresql-and-redis.md.",
                id="learnml.E006",
            )
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        messages.append(
            Warning(
                "SQLite is used; it serves one machine only.",
                hint="Set DATABASE_URL to a PostgreSQL database.",
                id="learnml.W002",
            )
        )
    return messages


def _server(url: str) -> tuple[str | None, str | None, int | None, str]:
    """Return a key by which to compare whether two addresses are one server and user."""
    address = urlsplit(url)
    path = "" if address.hostname else address.path
    return address.username, address.hostname, address.port or DEFAULT_REDIS_PORT, path
