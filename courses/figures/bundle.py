"""One file of all the figures' scripts, so that a page asks for one: `static/js/figures.js`.

    python -m courses.figures.bundle

writes it anew; a test says when that was forgotten. What is in `kinds/` is known to the page by its
file's name.
"""

from __future__ import annotations

from pathlib import Path

from courses.scripts import STATIC_JS, joined, name

SOURCES = STATIC_JS / "figures"
BUNDLE_PATH = STATIC_JS / "figures.js"
HEADER = (
    "// Made from static/js/figures/ by python -m courses.figures.bundle; change the sources.\n"
)


def bundle() -> str:
    """Return the script of the page: all kinds, and what moves them."""
    kinds = sorted(SOURCES.glob("kinds/*.js"))
    main = SOURCES / "main.js"
    modules = joined([*kinds, main], SOURCES)
    return f"{HEADER}{modules}{name(main, SOURCES)}.start({_registry(kinds)});\n"


def models() -> str:
    """Return a script that defines `figureKinds` and needs no page: the models alone."""
    kinds = sorted(SOURCES.glob("kinds/*.js"))
    return f"{joined(kinds, SOURCES)}const figureKinds = {_registry(kinds)};\n"


def _registry(kinds: list[Path]) -> str:
    return "{" + ", ".join(f'"{path.stem}": {name(path, SOURCES)}' for path in kinds) + "}"


def write_bundle() -> None:
    BUNDLE_PATH.write_text(bundle(), encoding="utf-8")


if __name__ == "__main__":
    write_bundle()
