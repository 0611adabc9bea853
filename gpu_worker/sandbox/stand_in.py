"""Where the packages of the CuPy track are on this machine, and the folder for its builds."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Final

BUILDS_FOLDER: Final = "LEARNML_BUILDS_FOLDER"
"""Names a folder for built kernels, on a disk from which programs may be loaded."""
BUILDS_PREFIX: Final = "learnml-builds-"
_ENGINE: Final = Path(__file__).resolve().parents[1]
_FOLDERS: Final = (("cupy", _ENGINE / "cupy_cpu"),)


def folders() -> tuple[tuple[str, str], ...]:
    """Return the packages for runners of the CuPy track, each with its folder.

    None where ml_dtypes is not installed: then there is no such track.
    """
    if importlib.util.find_spec("ml_dtypes") is None:
        return ()
    return tuple((name, str(folder)) for name, folder in _FOLDERS)


def make_builds_folder() -> str:
    """Make a folder for one zygote's built kernels; empty if no disk here allows loading them.

    Its owner writes, runners read: nothing is in it but what the present submission asked for.
    """
    wanted = os.environ.get(BUILDS_FOLDER)
    for place in [wanted] if wanted else [tempfile.gettempdir(), "/dev/shm", "/var/tmp"]:  # noqa: S108
        if Path(place).is_dir() and not os.statvfs(place).f_flag & os.ST_NOEXEC:
            try:
                made = tempfile.mkdtemp(prefix=f"{BUILDS_PREFIX}{os.getpid()}-", dir=place)
            except OSError:
                continue
            # Runners may be another user: they open files here by name, but cannot list the folder.
            os.chmod(made, 0o711)  # noqa: S103
            return made
    return ""
