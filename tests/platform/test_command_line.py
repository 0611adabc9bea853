"""`manage.py` outside of `./run`: what it says without a database, and that it leaves nothing."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from learnml import __version__, prepare
from learnml.settings.secret import keep_secret_key, load_secret_key
from tests.platform.instance import OUTSIDE_VARIABLES, PROJECT


def manage(*arguments: str, data: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    outside = {k: v for k, v in os.environ.items() if k not in OUTSIDE_VARIABLES}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env={**outside, "LEARNML_DATA": str(data), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )


@pytest.mark.parametrize("command", ["createsuperuser", "load_course", "showmigrations", "shell"])
def test_command_without_a_database_says_so_and_makes_none(tmp_path: Path, command: str) -> None:
    data = tmp_path / "data"
    refused = manage(command, data=data)
    assert refused.returncode == 1
    assert f"There is no database at {data}/db.sqlite3" in refused.stderr
    assert "LEARNML_DATA=" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1, refused.stderr
    assert not data.exists()


def test_file_without_tables_is_no_database(tmp_path: Path) -> None:
    """As earlier commands left it."""
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database:
        database.execute("PRAGMA journal_mode=WAL")
    refused = manage("createsuperuser", data=tmp_path)
    assert refused.returncode == 1
    assert "There is no database at" in refused.stderr


def test_a_commit_to_the_file_is_on_disk_before_it_is_answered(tmp_path: Path) -> None:
    """SQLite's own word for that is FULL; less may lose what a browser was told is saved."""
    outside = {k: v for k, v in os.environ.items() if k not in OUTSIDE_VARIABLES}
    asked = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import django; django.setup()\n"
            "from django.db import connection\n"
            "for name in ('journal_mode', 'synchronous'):\n"
            "    print(*connection.cursor().execute(f'PRAGMA {name}').fetchone())",
        ],
        cwd=PROJECT,
        env={
            **outside,
            "LEARNML_DATA": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "learnml.settings.local",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.split() == ["wal", "2"]


@pytest.mark.parametrize("arguments", [["check"], ["help"], ["createsuperuser", "--help"]])
def test_command_that_only_looks_leaves_nothing_behind(
    tmp_path: Path, arguments: list[str]
) -> None:
    data = tmp_path / "data"
    done = manage(*arguments, data=data)
    assert done.returncode == 0, done.stderr
    assert not data.exists()


@pytest.mark.parametrize("arguments", [["version"], ["--version"], ["up", "--version"]])
def test_the_version_is_told_and_nothing_is_started(tmp_path: Path, arguments: list[str]) -> None:
    data = tmp_path / "data"
    done = manage(*arguments, data=data)
    assert done.stdout.startswith(f"LearnML {__version__} (Django 5.")
    assert (done.returncode, done.stderr) == (0, "")
    assert not data.exists()


def test_database_that_is_away_is_said_in_a_sentence(tmp_path: Path) -> None:
    refused = manage(
        "createsuperuser", data=tmp_path, DATABASE_URL="postgres://me:a-secret@127.0.0.1:1/name"
    )
    assert refused.returncode == 1
    assert "The database name at 127.0.0.1:1 cannot be used" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "a-secret" not in refused.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEARNML_SUBMISSIONS_PER_MINUTE", "abc"),
        ("LEARNML_TASK_TIME_LIMIT_SECONDS", "abc"),
        ("DJANGO_SETTINGS_MODULE", "nope"),
        ("DJANGO_SETTINGS_MODULE", "learnml.settings.production"),
    ],
)
def test_setting_that_cannot_be_used_is_one_sentence(tmp_path: Path, name: str, value: str) -> None:
    refused = manage("check", data=tmp_path, **{name: value})
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1, refused.stderr


# --- secret key -----------------------------------------------------------------------------------
def test_key_is_kept_once_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert load_secret_key(data) != load_secret_key(data), "none is kept yet"
    keep_secret_key(data)
    key = load_secret_key(data)
    assert len(key) >= 50
    keep_secret_key(data, "another")
    assert load_secret_key(data) == key
    assert stat.S_IMODE((data / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in data.iterdir()] == ["secret_key"]


def test_preparing_keeps_the_key_that_the_settings_made(tmp_path: Path, settings: Settings) -> None:
    settings.DATA_DIR = tmp_path
    prepare.prepare_secret_key()
    assert list(tmp_path.iterdir()) == [], "a key from the environment is not written down"
    settings.SECRET_KEY_IN_DATA_DIR = True
    prepare.prepare_secret_key()
    assert load_secret_key(tmp_path) == settings.SECRET_KEY
