"""Static files: named by content, compressed beforehand; fast enough for a first start."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]
from django.conf import settings
from django.contrib.staticfiles.apps import StaticFilesConfig
from whitenoise.compress import Compressor  # type: ignore[import-untyped]
from whitenoise.storage import (  # type: ignore[import-untyped]
    CompressedManifestStaticFilesStorage,
)

# Best compression for our own files; those of the admin and the API may be a tenth larger.
OWN_QUALITY = 11
OTHER_QUALITY = 5
SKIPPED_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")


class LearnMLStaticFilesConfig(StaticFilesConfig):
    # Pages of the browsable API, which is not served.
    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "rest_framework"]


class QuickCompressor(Compressor):
    """Compresses equal contents once: every file exists under its plain and its hashed name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "extensions": SKIPPED_EXTENSIONS})
        self._brotli: dict[tuple[bytes, int], bytes] = {}
        self._quality = threading.local()

    def compress(self, path: str) -> list[str]:
        self._quality.value = OWN_QUALITY if is_own(path) else OTHER_QUALITY
        return list(super().compress(path))

    def compress_brotli(self, data: bytes) -> bytes:
        key = (data, self._quality.value)
        if key not in self._brotli:
            self._brotli[key] = brotli.compress(data, quality=self._quality.value)
        return self._brotli[key]


def is_own(path: str) -> bool:
    """Return whether a collected file came from the project's `static/`."""
    first = Path(path).relative_to(settings.STATIC_ROOT).parts[0]
    return any((Path(folder) / first).exists() for folder in settings.STATICFILES_DIRS)


_COMMENT = re.compile(rb"/\*.*?\*/\s*", re.DOTALL)


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    # Imports of modules are named by content too, so browsers can cache them forever.
    support_js_module_import_aggregation = True

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """Name, compress and yield the collected files; our style sheets lose their comments."""
        if not dry_run:
            for name in paths:
                path = Path(self.path(name))
                if path.suffix == ".css" and is_own(str(path)):
                    path.write_bytes(_COMMENT.sub(b"", path.read_bytes()))
        yield from super().post_process(paths, dry_run, **options)

    def create_compressor(self, **options: Any) -> Compressor:
        return QuickCompressor(**options)
