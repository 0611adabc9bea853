"""Which Python and which NumPy runners use: this worker's own, without its virtual environment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

PACKAGES: Final = ("numpy", "numpy.libs", "ml_dtypes")
"""Folders beside each other. Nothing else of the worker's packages is there for runners."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Paths on this machine: the program, the folder of its library, the folder of packages."""

    program: str
    libraries: tuple[str, ...]
    packages: str

    @classmethod
    def current(cls) -> Interpreter:
        """Return this process's own, found beyond any virtual environment."""
        # typeshed leaves it out: the interpreter that a virtual environment was made from.
        base = str(getattr(sys, "_base_executable", "") or sys.executable)
        prefix = Path(sys.base_prefix)
        libraries = [prefix / "lib", prefix / "lib64"]
        return cls(
            program=str(Path(base).resolve()),
            libraries=tuple(str(path) for path in libraries if path.is_dir()),
            packages=str(Path(np.__file__).parent.parent),
        )

    def package_folders(self) -> list[str]:
        """Return the folders of the offered packages that exist here."""
        paths = [Path(self.packages, name) for name in PACKAGES]
        return [str(path) for path in paths if path.is_dir()]
