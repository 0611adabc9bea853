"""The socket paths of the embedded queue and cache, shared by supervisor and site."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

# Unix sockets allow 108 bytes on Linux and 104 on macOS, with the final NUL.
MAX_SOCKET_PATH_BYTES = 100


def queue_socket_path(data_dir: Path) -> Path:
    """Return the queue's socket, which site and workers use."""
    return _socket_path(data_dir, "queue", "valkey.sock")


def cache_socket_path(data_dir: Path) -> Path:
    """Return the cache's socket, which only the site uses."""
    return _socket_path(data_dir, "cache", "cache.sock")


def _socket_path(data_dir: Path, folder: str, name: str) -> Path:
    """Return a path inside `data_dir`, or in a short private folder if that is too long.

    The short folder's name contains the user's id and a hash of `data_dir`, so that every process
    that knows the data folder finds the same socket. The supervisor creates the folder and checks
    that nobody else owns it.
    """
    path = data_dir / folder / name
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
        return path
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    runtime = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    if len(os.fsencode(runtime)) > 50:
        runtime = "/tmp"  # noqa: S108  the folder below is private and checked
    return Path(runtime) / f"learnml-{os.getuid()}-{digest}" / name
