"""`manage.py`: Django's commands, with messages in place of tracebacks for common errors."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from . import __version__
from .environment import LOCAL_SETTINGS, BadSetting, check_settings_module

# Commands that create a database, or need none.
NEED_NO_DATABASE = frozenset(
    {
        *("help", "version", "check", "diffsettings", "test", "up"),
        *("migrate", "makemigrations", "prepare", "collectstatic", "findstatic"),
        *("startapp", "startproject", "makemessages", "compilemessages"),
        *("check_course", "write_api_schema", "spectacular", "sendtestemail"),
    }
)
HELP = frozenset({"-h", "--help", "--version"})
VERSION_REQUESTS = (["version"], ["--version"], ["up", "--version"])
MIGRATIONS_TABLE = "django_migrations"


def main(arguments: Sequence[str]) -> None:
    """Run one command. `arguments` are the program's, its name first."""
    if not os.environ.get("DJANGO_SETTINGS_MODULE"):
        os.environ["DJANGO_SETTINGS_MODULE"] = LOCAL_SETTINGS
    if list(arguments[1:]) in VERSION_REQUESTS:
        from django import get_version

        sys.stdout.write(f"LearnML {__version__} (Django {get_version()})\n")
        return
    if arguments[1:2] == ["up"]:
        # The supervisor needs no Django; its children load it, once each, side by side.
        from learnml.supervisor.main import main as up

        sys.exit(up(list(arguments[2:])))
    try:
        _run(list(arguments))
    except BadSetting as error:
        sys.exit(str(error))


def _run(arguments: list[str]) -> None:
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, ProgrammingError

    _use_given_settings(arguments)
    check_settings_module()
    if not HELP & set(arguments) and needs_database(arguments) and (path := missing_database()):
        sys.exit(
            f"There is no database at {path}: start LearnML once to make it, or name the one you "
            f"mean, as in LEARNML_DATA=/path/to/folder python manage.py {arguments[1]}, or by "
            "DATABASE_URL."
        )
    try:
        execute_from_command_line(arguments)
    except (OperationalError, ProgrammingError) as error:
        if "--traceback" in arguments:
            raise
        first_line = str(error).strip().partition("\n")[0]
        sys.exit(
            f"The database {database_name()} cannot be used: {first_line}. Check that it runs and "
            "that DATABASE_URL or LEARNML_DATA names it; after an update, start LearnML once."
        )


def _use_given_settings(arguments: list[str]) -> None:
    """Apply `--settings` and `--pythonpath` as Django itself would."""
    from django.core.management.base import CommandError, CommandParser, handle_default_options

    parser = CommandParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--settings")
    parser.add_argument("--pythonpath")
    try:
        options, _ = parser.parse_known_args(arguments[2:])
    except CommandError:
        return  # Django reports what is wrong with it.
    handle_default_options(options)


def needs_database(arguments: Sequence[str]) -> bool:
    return len(arguments) > 1 and arguments[1] not in NEED_NO_DATABASE


def missing_database() -> Path | None:
    """Return the path of the SQLite file if LearnML's tables are not in it, else None."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if not database["ENGINE"].endswith("sqlite3"):
        return None
    path = Path(database["NAME"])
    if not path.is_file():
        return path
    question = f"SELECT 1 FROM sqlite_master WHERE name = '{MIGRATIONS_TABLE}'"  # noqa: S608
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as file:
            return None if file.execute(question).fetchone() else path
    except sqlite3.Error:
        return None  # It exists, and the command reports what is wrong with it.


def database_name() -> str:
    """Return the settings' database, without its password."""
    from django.conf import settings

    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        return str(database["NAME"])
    place = f"{database['HOST']}:{database['PORT'] or 5432}" if database["HOST"] else "here"
    return f"{database['NAME']} at {place}"
