"""Secrets of a local site: made by the first start, kept in the data folder for its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

SECRET_KEY_FILE: Final = "secret_key"  # noqa: S105  a name of a file
WORKER_KEY_FILE: Final = "worker_key"
LOCAL_WORKER_NAME: Final = "local"


def load_secret_key(data_dir: Path) -> str:
    """Return the key in `data_dir`; where there is none, one that only this process knows.

    Nothing is written: a command that only looks leaves no file behind. What starts a site,
    `up` and `prepare`, calls `keep_secret_key`.
    """
    return _read(data_dir / SECRET_KEY_FILE) or secrets.token_urlsafe(50)


def keep_secret_key(data_dir: Path, key: str = "") -> None:
    """Write a key into `data_dir` unless there is one; without `key`, make one."""
    _keep(data_dir / SECRET_KEY_FILE, key or secrets.token_urlsafe(50))


def load_worker_key(data_dir: Path) -> str:
    """Return the key of the worker that `up` starts, "" where `up` has not made it."""
    return _read(data_dir / WORKER_KEY_FILE)


def keep_worker_key(data_dir: Path) -> str:
    """Return that key, made and kept in `data_dir` if there is none."""
    _keep(data_dir / WORKER_KEY_FILE, f"{LOCAL_WORKER_NAME}.{secrets.token_hex(32)}")
    return load_worker_key(data_dir)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _keep(path: Path, text: str) -> None:
    """Write a file for its owner alone unless it is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    # Linked once complete: no reader sees half a key, and of two writers one wins.
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
