"""Detects changes since the last start by hashes, so that a start is quick."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

# What the database's content depends on: migrations, course files, what renders them, exercises
# with the programs that decide whether they are published.
DATABASE_SOURCES = (
    "requirements/site.txt",
    "learnml/settings",
    "learnml/roles.py",
    "courses/migrations",
    "grader/migrations",
    "courses/library",
    "courses/content",
    "courses/rendering",
    "courses/publishing",
    "courses/figures",
    "grader/library",
    "gpu_worker/exercises",
)
STATIC_SOURCES = ("requirements/site.txt", "learnml/settings", "learnml/static_files.py", "static")
IGNORED_SUFFIXES = frozenset({".pyc", ".swp"})
IGNORED_FOLDERS = frozenset({"__pycache__", "tests"})


def fingerprint(base_dir: Path, sources: Iterable[str]) -> str:
    """Return a hash over names and contents of all files below `sources`."""
    digest = hashlib.blake2b(digest_size=16)
    for source in sources:
        for path in _files(base_dir / source):
            digest.update(f"{path.relative_to(base_dir)}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        return
    for child in sorted(path.iterdir()):
        if child.is_dir():
            if child.name not in IGNORED_FOLDERS:
                yield from _files(child)
        elif child.suffix not in IGNORED_SUFFIXES:
            yield child


def database_fingerprint(base_dir: Path) -> str:
    return fingerprint(base_dir, DATABASE_SOURCES)


def static_fingerprint(base_dir: Path) -> str:
    return fingerprint(base_dir, STATIC_SOURCES)


def as_user_version(digest: str) -> int:
    """Return the digest as SQLite's 31-bit `user_version`, never 0, which a new file has."""
    return int(digest[:8], 16) & 0x7FFFFFFF or 1


def sqlite_is_prepared(path: Path, digest: str) -> bool:
    """Return whether the SQLite file was prepared from sources with this digest.

    The mark is in the file itself, so it is also right for a copy or a restored backup.
    """
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error:
        return False
    return bool(version == as_user_version(digest))


def static_note(static_root: Path) -> Path:
    return static_root / ".fingerprint"


def static_is_prepared(static_root: Path, digest: str) -> bool:
    try:
        return static_note(static_root).read_text() == digest
    except OSError:
        return False
