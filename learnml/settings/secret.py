"""The local secret key: made by the first start, kept in the data folder for its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

FILE_NAME = "secret_key"


def load_secret_key(data_dir: Path) -> str:
    """Return the key in `data_dir`; where there is none, one that only this process knows.

    Nothing is written: a command that only looks leaves no file behind. What starts a site,
    `up` and `prepare`, calls `keep_secret_key`.
    """
    with contextlib.suppress(FileNotFoundError):
        if key := (data_dir / FILE_NAME).read_text().strip():
            return key
    return secrets.token_urlsafe(50)


def keep_secret_key(data_dir: Path, key: str = "") -> None:
    """Write a key into `data_dir` unless there is one; without `key`, make one."""
    path = data_dir / FILE_NAME
    if path.exists():
        return
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key or secrets.token_urlsafe(50))
    # Linked when it is whole: nobody reads half a key, and of two writers one wins.
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
