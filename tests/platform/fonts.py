"""Run something as on a machine that has other fonts: nothing is installed for it.

    python -m tests.platform.fonts FOLDER... -- COMMAND...

runs the command, and every browser that it starts, with the fonts of these folders alone. They may
be those of a package that was only unpacked (docs/how-to/rebuild-the-fonts.md).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

SYSTEM_FONTS = Path("/usr/share/fonts")
# Families that free desktops have, by a part of their files' names.
FAMILIES = {"DejaVu": "DejaVu*.ttf", "Liberation": "Liberation*.ttf", "Noto": "Noto*.ttf"}


def installed(family: str) -> list[Path]:
    """Return the folders of this machine that hold the family's fonts."""
    return sorted({path.parent for path in SYSTEM_FONTS.rglob(FAMILIES[family])})


def environment(folders: Iterable[Path], scratch: Path) -> dict[str, str]:
    """Return the variables with which a program finds these folders' fonts and no others."""
    config = scratch / "fonts.conf"
    listed = "".join(f"<dir>{escape(str(folder.resolve()))}</dir>" for folder in folders)
    config.write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig>{listed}<cachedir>{escape(str(scratch / 'cache'))}</cachedir></fontconfig>"
    )
    return {"FONTCONFIG_FILE": str(config)}


def main(arguments: list[str]) -> None:
    place = arguments.index("--") if "--" in arguments else len(arguments)
    folders, command = [Path(one) for one in arguments[:place]], arguments[place + 1 :]
    if not folders or not command or not all(folder.is_dir() for folder in folders):
        sys.exit(__doc__)
    scratch = Path(tempfile.mkdtemp(prefix="learnml-fonts-"))
    os.execvpe(command[0], command, {**os.environ, **environment(folders, scratch)})  # noqa: S606


if __name__ == "__main__":
    main(sys.argv[1:])
