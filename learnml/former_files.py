"""Static files of former releases, for pages that are still open.

Every page names its files by their content, and loads some of them late: a font when a letter needs
it, the search when somebody searches. So files that an update replaces are kept for a while.
`former.json` beside the files records when each was replaced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

NOTE = "former.json"
MANIFEST = "staticfiles.json"
COMPRESSED_SUFFIXES = (".br", ".gz")


def retire(root: Path, now: datetime) -> None:
    """Delete the plain copies of collected files, keep the named ones, and record them as former.

    Collecting then finds a folder without any file that it could mistake for its own. Safe to
    interrupt and repeat.
    """
    former = {name: now.isoformat() for name in current_names(root)} | _noted(root)
    _write(root, former)
    kept = {*_with_compressed(former), NOTE, MANIFEST}
    for path in [path for path in root.rglob("*") if path.is_file()]:
        if path.relative_to(root).as_posix() not in kept:
            path.unlink()


def forget_old(root: Path, now: datetime, kept_for: timedelta) -> None:
    """Delete former files that were replaced longer ago than `kept_for`."""
    current = current_names(root)
    former = {name: since for name, since in _noted(root).items() if name not in current}
    old = {name for name, since in former.items() if datetime.fromisoformat(since) + kept_for < now}
    for name in _with_compressed(old):
        (root / name).unlink(missing_ok=True)
    _write(root, {name: since for name, since in former.items() if name not in old})


def current_names(root: Path) -> set[str]:
    """Return the names, relative to the folder, of the files that current pages use."""
    try:
        paths = json.loads((root / MANIFEST).read_text(encoding="utf-8"))["paths"]
    except (OSError, ValueError, KeyError):
        return set()
    return set(paths.values())


def _noted(root: Path) -> dict[str, str]:
    try:
        return dict(json.loads((root / NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _write(root: Path, former: dict[str, str]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    text = json.dumps(former, indent=0, sort_keys=True)
    if not (root / NOTE).is_file() or (root / NOTE).read_text(encoding="utf-8") != text:
        (root / NOTE).write_text(text, encoding="utf-8")


def _with_compressed(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        for suffix in COMPRESSED_SUFFIXES:
            yield name + suffix
