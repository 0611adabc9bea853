"""The bundler of scripts and styles, as `package-lock.json` pins it."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from pathlib import Path

from tests.platform.instance import PROJECT

LOCK = PROJECT / "package-lock.json"
INSTALLED = PROJECT / "node_modules" / "lock.json"


def install() -> None:
    """Install the packages of the lock unless they are there, as `./run test` does."""
    assert shutil.which("npm"), "This needs node and npm: apt-get install nodejs npm"
    with LOCK.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if INSTALLED.is_file() and INSTALLED.read_bytes() == LOCK.read_bytes():
            return
        _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        shutil.copy(LOCK, INSTALLED)


def build_static(folder: Path) -> Path:
    """Bundle into the folder what `static/build.mjs` makes, and return the folder."""
    install()
    _run("node", "static/build.mjs", str(folder))
    return folder


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stderr}"
