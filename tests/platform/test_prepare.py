"""What a start skips: fingerprints, the mark in the database, static files."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import RequestFactory
from django.utils import timezone
from pytest_django.fixtures import Settings

from gpu_worker.tests.shipped import SHIPPED
from learnml import prepare
from learnml.queue_socket import MAX_SOCKET_PATH_BYTES, queue_socket_path
from learnml.supervisor import fingerprint
from tests.platform.instance import PROJECT


# --- fingerprints ---------------------------------------------------------------------------------
@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "library" / "course").mkdir(parents=True)
    (tmp_path / "library" / "course" / "a.yaml").write_text("a")
    return tmp_path


def test_fingerprint_follows_contents_and_names(tree: Path) -> None:
    seen = {fingerprint.fingerprint(tree, ["library"])}
    for name, text in (("a.yaml", "b"), ("b.yaml", "b"), ("c.yaml", "")):
        (tree / "library" / "course" / name).write_text(text)
        seen.add(fingerprint.fingerprint(tree, ["library"]))
    (tree / "library" / "course" / "c.yaml").rename(tree / "library" / "course" / "d.yaml")
    seen.add(fingerprint.fingerprint(tree, ["library"]))
    assert len(seen) == 5


def test_fingerprint_ignores_times_and_compiled_files(tree: Path) -> None:
    before = fingerprint.fingerprint(tree, ["library", "missing"])
    (tree / "library" / "course" / "a.yaml").touch()
    (tree / "library" / "__pycache__").mkdir()
    (tree / "library" / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert fingerprint.fingerprint(tree, ["library", "missing"]) == before


@pytest.mark.parametrize("source", [*fingerprint.DATABASE_SOURCES, *fingerprint.STATIC_SOURCES])
def test_every_source_exists(source: str) -> None:
    assert (PROJECT / source).exists()


def test_mark_is_in_the_database_file(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite3"
    digest = "0123456789abcdef"
    assert not fingerprint.sqlite_is_prepared(path, digest)
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE something (id)")
        database.commit()
        assert not fingerprint.sqlite_is_prepared(path, digest)
        database.execute(f"PRAGMA user_version = {fingerprint.as_user_version(digest)}")
        database.commit()
    assert fingerprint.sqlite_is_prepared(path, digest)
    assert not fingerprint.sqlite_is_prepared(path, "fedcba9876543210")


def test_file_that_is_no_database_is_not_prepared(tmp_path: Path) -> None:
    path = tmp_path / "db.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    assert not fingerprint.sqlite_is_prepared(path, "0123456789abcdef")


def test_digest_never_equals_the_mark_of_a_new_file() -> None:
    assert fingerprint.as_user_version("0" * 32) != 0
    assert fingerprint.as_user_version("f" * 32) < 2**31


# --- preparing twice ------------------------------------------------------------------------------
@pytest.mark.django_db
def test_preparing_again_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    from courses.models import ChapterRevision
    from grader import content
    from grader.models import Exercise

    prepare.prepare_database(lambda text: None)
    revisions = list(ChapterRevision.objects.values_list("pk", flat=True))
    exercises = set(Exercise.objects.values_list("slug", flat=True))
    assert revisions
    assert exercises == {path.stem for path in content.files()} >= SHIPPED.keys()
    prepare.prepare_database(lambda text: None)
    assert list(ChapterRevision.objects.values_list("pk", flat=True)) == revisions


# --- static files ---------------------------------------------------------------------------------
def test_static_files_are_named_by_content_compressed_and_made_once(
    settings: Settings, tmp_path: Path
) -> None:
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "learnml.static_files.StaticFilesStorage"},
    }
    said: list[str] = []
    prepare.prepare_static_files(said.append)
    prepare.prepare_static_files(said.append)
    assert len(said) == 1
    root = tmp_path / "static"
    assert list(root.glob("css/*.????????????.css.br"))
    assert list(root.glob("css/*.????????????.css.gz"))
    assert list(root.glob("admin/css/*.css.br"))
    assert not (root / "rest_framework").exists()


@pytest.fixture
def release(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], str]:
    """Return a function that prepares a release with this style sheet and returns its address."""
    from django.contrib.staticfiles.storage import staticfiles_storage

    source = tmp_path / "source" / "css"
    source.mkdir(parents=True)
    settings.STATICFILES_DIRS = [tmp_path / "source"]
    settings.STATIC_ROOT = str(tmp_path / "static")
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "learnml.static_files.StaticFilesStorage"},
    }

    def make(css: str) -> str:
        path = source / "site.css"
        path.write_text(css)
        # As after unpacking: a file is no newer than what was collected from another release.
        os.utime(path, (0, 0))
        monkeypatch.setattr(fingerprint, "static_fingerprint", lambda base_dir: css)
        prepare.prepare_static_files(lambda text: None)
        staticfiles_storage.hashed_files = staticfiles_storage.load_manifest()[0]
        return str(staticfiles_storage.url("css/site.css"))

    return make


def served(settings: Settings, address: str) -> Any:
    """Return what a server that starts now answers, as one that runs does for what it found."""
    from django.http import HttpResponseNotFound
    from whitenoise.middleware import WhiteNoiseMiddleware

    server = WhiteNoiseMiddleware(lambda request: HttpResponseNotFound(), settings=settings)
    return server(RequestFactory().get(address, headers={"Accept-Encoding": "br"}))


def test_a_page_left_open_over_updates_still_gets_its_files_for_a_while(
    settings: Settings, tmp_path: Path, release: Callable[[str], str]
) -> None:
    root = tmp_path / "static"
    first = release("a { color: red } /* one */" + "b {}" * 100)
    (root / "css" / "gone.css").write_text("From a file that a release no longer has.")
    second = release("a { color: green }" + "b {}" * 100)
    assert first != second
    assert not (root / "css" / "gone.css").exists()
    for address in (first, second):
        response = served(settings, address)
        assert response.status_code == 200
        assert response["Content-Encoding"] == "br"
        assert "immutable" in response["Cache-Control"]
    assert "green" in (root / "css" / "site.css").read_text()
    # A release that goes back makes it today's again.
    assert release("a { color: red } /* one */" + "b {}" * 100) == first
    noted = json.loads((root / "former.json").read_text())
    assert list(noted) == [second.removeprefix("/static/")]
    # Time passes; a start without an update forgets what is too old.
    long_ago = (timezone.now() - timedelta(days=15)).isoformat()
    (root / "former.json").write_text(json.dumps(dict.fromkeys(noted, long_ago)))
    settings.FORMER_FILES_DAYS = 16
    prepare.prepare_static_files(lambda text: None)
    assert served(settings, second).status_code == 200
    settings.FORMER_FILES_DAYS = 14
    prepare.prepare_static_files(lambda text: None)
    assert served(settings, second).status_code == 404
    assert served(settings, first).status_code == 200
    assert not list(root.glob(second.removeprefix("/static/") + "*"))


def test_an_update_that_was_interrupted_loses_no_file_of_a_page(
    tmp_path: Path, release: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = release("a { color: red }")

    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(prepare, "call_command", interrupted)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                release("a { color: green }")
    release("a { color: green }")
    assert (tmp_path / "static" / first.removeprefix("/static/")).is_file()


def test_own_files_are_compressed_best(settings: Settings) -> None:
    from learnml import static_files

    root = Path(settings.STATIC_ROOT)
    own = next(path for path in (PROJECT / "static").iterdir() if path.is_dir())
    assert static_files.is_own(str(root / own.name / "x.css"))
    assert not static_files.is_own(str(root / "admin" / "css" / "base.css"))


# --- queue socket ---------------------------------------------------------------------------------
def test_socket_is_in_the_data_folder_where_its_path_is_short(tmp_path: Path) -> None:
    assert queue_socket_path(Path("/data")) == Path("/data/queue/valkey.sock")


def test_long_data_path_has_a_short_socket_path_of_its_own() -> None:
    first, second = (queue_socket_path(Path(f"/{'long' * 40}/{n}")) for n in (1, 2))
    assert first != second
    assert len(str(first).encode()) <= MAX_SOCKET_PATH_BYTES


# --- commands -------------------------------------------------------------------------------------
def test_up_is_listed_among_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import get_commands

    assert get_commands()["up"] == "learnml"
    with pytest.raises(SystemExit):
        call_command("up", "--help")
