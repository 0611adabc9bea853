"""Modules that the zygote imports before it forks, so that runners need not.

This saves each runner time. Where the runner's user cannot read the interpreter's folder, for
example because it is in root's home, it is the only way to provide a module at all: then the whole
standard library is loaded.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import warnings
from pathlib import Path
from typing import Final

_USUAL: Final = (
    *("abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses"),
    *("datetime", "decimal", "enum", "fractions", "functools", "heapq", "inspect", "io"),
    *("itertools", "json", "logging", "math", "numbers", "operator", "pathlib", "pprint"),
    *("random", "re", "statistics", "string", "struct", "textwrap", "threading", "time"),
    *("traceback", "types", "typing", "unicodedata", "warnings", "weakref"),
    *("numpy", "numpy.fft", "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma"),
    *("numpy.polynomial", "numpy.random", "numpy.testing", "numpy.typing"),
)
_SUBMODULES: Final = (
    *("collections.abc", "concurrent.futures", "encodings.idna", "encodings.latin_1"),
    *("encodings.utf_16", "encodings.utf_8_sig", "importlib.metadata", "importlib.resources"),
    *("os.path", "unittest.mock", "urllib.parse", "xml.etree.ElementTree"),
)
_NOT_LOADED: Final = frozenset(
    # They print, open windows, need a display, or serve Python's own maintenance.
    ("antigravity", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "this", "tkinter", "turtle")
    + ("turtledemo", "venv", "__main__", "test", "distutils")
)


def preload() -> None:
    """Import the usual modules, or the whole standard library where runners cannot."""
    for name in _USUAL:
        importlib.import_module(name)
    if not readable_by_others(Path(os.__file__).parent):
        _preload_everything()


def readable_by_others(folder: Path) -> bool:
    """True if any user can read the folder: it, and all above it, grant that to others."""
    readable = folder.stat().st_mode & stat.S_IROTH
    return bool(readable) and all(
        path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents)
    )


def _preload_everything() -> None:
    public = sorted(name for name in sys.stdlib_module_names if not name.startswith("_"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for name in (*public, *_SUBMODULES):
            if name not in _NOT_LOADED:
                try:
                    importlib.import_module(name)
                except ImportError:
                    # For another operating system, or left out of this build of Python.
                    continue
