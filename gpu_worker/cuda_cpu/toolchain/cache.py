"""Compiled libraries by their key, in memory and in a folder that only the worker writes to."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Final

from gpu_worker.cuda_cpu.toolchain import gxx

REMEMBERED: Final = 64
"""Libraries in memory."""
KEPT: Final = 1024
"""Libraries in the folder, a hundred kilobytes each; the oldest go."""
_LOOK_EVERY: Final = 64


class Cache:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, bytes] = OrderedDict()
        self._puts = 0

    def get(self, key: str) -> bytes | None:
        with self._lock:
            library = self._recent.get(key)
            if library is not None:
                self._recent.move_to_end(key)
                return library
        try:
            library = self._path(key).read_bytes()
        except OSError:
            return None
        self._remember(key, library)
        return library

    def put(self, key: str, library: bytes) -> None:
        path = self._path(key)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        unfinished.write_bytes(library)
        unfinished.replace(path)
        self._remember(key, library)
        self._puts += 1
        if self._puts % _LOOK_EVERY == 1:
            self.prune(path.parent)

    def clear(self) -> None:
        """Forget every library, also those in the folder."""
        with self._lock:
            self._recent.clear()
        folder = self._path("").parent
        if folder.is_dir():
            self.prune(folder, kept=0)

    @staticmethod
    def prune(folder: Path, kept: int = KEPT) -> None:
        """Remove the oldest libraries where there are more than are kept."""
        found = []
        for path in folder.iterdir():
            # Another worker may have removed it, both here and below.
            with contextlib.suppress(FileNotFoundError):
                if path.suffix == ".so":
                    found.append((path.stat().st_mtime, path))
        found.sort()
        for _, path in found[: max(0, len(found) - kept)]:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def _remember(self, key: str, library: bytes) -> None:
        with self._lock:
            self._recent[key] = library
            self._recent.move_to_end(key)
            while len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)

    def _path(self, key: str) -> Path:
        return gxx.folder() / "libraries" / f"{key}.so"
