"""Bring database and static files up to date with the sources; each step only if needed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from courses.accounts import names
from courses.services import publish_outdated
from grader.services.exercises import render_outdated
from learnml import demo, former_files
from learnml.roles import make_roles
from learnml.settings.secret import keep_secret_key, keep_worker_key
from learnml.supervisor import fingerprint

Say = Callable[[str], None]


def prepare_database(say: Say) -> None:
    """Migrate, update the roles, and load courses and exercises from their files.

    Idempotent.
    """
    digest = fingerprint.database_fingerprint(settings.BASE_DIR)
    if pending_migrations():
        say("Migrating the database ...")
        call_command("migrate", interactive=False, verbosity=0)
    # Migrating does it too, but roles may change without a migration.
    make_roles()
    names.note_missing()
    call_command("load_course")
    call_command("load_exercises")
    _render_outdated(say)
    _mark(digest)


def _render_outdated(say: Say) -> None:
    """Render content written on this site again; that from files has just been."""
    refused = {**publish_outdated(), **render_outdated()}
    for slug, problem in refused.items():
        say(f"“{slug}” stays as an earlier release rendered it, until this is mended: {problem}")


def pending_migrations() -> bool:
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _mark(digest: str) -> None:
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA user_version = {fingerprint.as_user_version(digest)}")


def prepare_static_files(say: Say) -> None:
    """Collect and compress the static files unless nothing changed since the last time.

    Those of former releases are kept for as long as the settings say.
    """
    digest = fingerprint.static_fingerprint(settings.BASE_DIR)
    root = Path(settings.STATIC_ROOT)
    if not fingerprint.static_is_prepared(root, digest):
        say("Collecting and compressing the static files ...")
        former_files.retire(root, timezone.now())
        call_command("collectstatic", interactive=False, verbosity=0)
        fingerprint.static_note(root).write_text(digest)
    kept_for = timedelta(days=settings.FORMER_FILES_DAYS)
    former_files.forget_old(root, timezone.now(), kept_for)


def prepare_secret_key() -> None:
    """Store the keys that these settings generated, for later processes."""
    if getattr(settings, "SECRET_KEY_IN_DATA_DIR", False):
        keep_secret_key(settings.DATA_DIR, settings.SECRET_KEY)
        keep_worker_key(settings.DATA_DIR)


def prepare_demo_accounts(say: Say, password: str) -> None:
    """Create the demo accounts at the first start, where the settings allow them."""
    if not settings.DEMO_ACCOUNTS_ALLOWED:
        return
    accounts = demo.make_demo_accounts(password)
    if accounts is not None:
        demo.write_note(accounts, settings.DATA_DIR)
        say(f"Made the demo accounts {', '.join(accounts.usernames)}.")
