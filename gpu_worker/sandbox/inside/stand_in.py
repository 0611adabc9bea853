"""The CPU stand-in for CuPy: loaded once by the zygote, and installed for runs that use it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final

_hidden: dict[str, ModuleType] = {}
_OFFERED: Final = ("cupy", "ml_dtypes")
builds_folder = ""
"""Where the worker puts what it builds, empty for nowhere."""


def preload(modules: Sequence[tuple[str, str]], builds: str) -> None:
    """Import the packages under their names from their folders, and hide them again.

    Programs of the NumPy track must not find them; those of the CuPy track need not load them.
    """
    global builds_folder
    builds_folder = builds
    before = set(sys.modules)
    for name, folder in modules:
        _load(name, folder)
    if modules:
        # What the harness needs of it.
        importlib.import_module("cupy.host")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in _OFFERED:
            _hidden[name] = sys.modules.pop(name)


def show() -> None:
    """Make what was preloaded importable.

    Raises:
        ImportError: there is no stand-in here.
    """
    if "cupy" not in _hidden:
        raise ImportError("The CPU stand-in for CuPy is not installed on this worker.")
    sys.modules.update(_hidden)


def _load(name: str, folder: str) -> None:
    """Import the package in this folder under its name."""
    spec = importlib.util.spec_from_file_location(
        name, str(Path(folder, "__init__.py")), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"no package {name} in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
