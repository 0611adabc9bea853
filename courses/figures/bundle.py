"""The script of a chapter with figures: a chapter's, and all of the figures'.

    python -m courses.figures.bundle

writes `static/js/chapter-with-figures.js` anew; a test says when that was forgotten. What is in
`kinds/` is known to the page by its file's name.
"""

from __future__ import annotations

from pathlib import Path

from courses.scripts import STATIC_JS, chapter_script, joined, name

SOURCES = STATIC_JS / "figures"
BUNDLE_PATH = STATIC_JS / "chapter-with-figures.js"
HEADER = (
    "// Made from static/js/chapter.js and static/js/figures/ by python -m courses.figures.bundle; "
    "change the sources.\n"
)


def bundle() -> str:
    """Return the script of the page: the chapter's, all kinds, and what moves them."""
    kinds = sorted(SOURCES.glob("kinds/*.js"))
    main = SOURCES / "main.js"
    modules = joined([*kinds, main], SOURCES)
    figures = f"{modules}{name(main, SOURCES)}.start({_registry(kinds)});\n"
    # In a block: both parts have modules of the same names.
    return f"{HEADER}{chapter_script()}{{\n{figures}}}\n"


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
