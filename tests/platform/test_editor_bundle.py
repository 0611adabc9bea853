"""The editor's bundle is what its sources and its lock make: nobody has changed it by hand."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.platform.instance import PROJECT

FOLDER = PROJECT / "static" / "vendor" / "codemirror"
SOURCES = ("package.json", "package-lock.json", "entry.js", "build.sh")


def test_its_header_names_the_sources_that_are_there() -> None:
    digest = hashlib.sha256(b"".join((FOLDER / name).read_bytes() for name in SOURCES)).hexdigest()
    with (FOLDER / "codemirror.js").open("rb") as bundle:
        header = bundle.readline().decode()
    assert digest in header, "Sources of the editor changed: run static/vendor/codemirror/build.sh."


def test_its_sources_build_the_same_bytes(tmp_path: Path) -> None:
    assert shutil.which("npm"), "This needs node and npm: apt-get install nodejs npm"
    built = tmp_path / "codemirror.js"
    done = subprocess.run(
        [str(FOLDER / "build.sh"), str(built)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"The bundle could not be built:\n{done.stderr}"
    assert built.read_bytes() == (FOLDER / "codemirror.js").read_bytes()
