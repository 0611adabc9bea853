"""Scripts and styles that are written apart and sent as one file each, so that a page asks for one.

    python -m courses.scripts

writes `static/js/chapter.js` anew from `static/js/site.js` and `static/js/chapter/`, and
`static/css/chapter.css` from the styles of formulas and figures; a test says when it was forgotten.
The sources are modules with plain imports and exports; each becomes a function whose result is what
it exports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

STATIC_JS = Path(__file__).resolve().parents[1] / "static" / "js"
CHAPTER_SOURCES = STATIC_JS / "chapter"
CHAPTER_PATH = STATIC_JS / "chapter.js"
CHAPTER_HEADER = (
    "// Made from static/js/site.js and static/js/chapter/ by python -m courses.scripts; change "
    "those.\n"
)
STATIC = STATIC_JS.parent
CHAPTER_SHEET_PATH = STATIC / "css" / "chapter.css"
CHAPTER_SHEETS = (STATIC / "vendor" / "katex" / "katex.min.css", STATIC / "css" / "figures.css")
SHEET_HEADER = (
    "/* Made from vendor/katex/katex.min.css and figures.css by python -m courses.scripts; change "
    "those. */\n"
)

_URL = re.compile(r"url\(([\w./-]+)\)")
_IMPORT = re.compile(r'^import (?:(\{[^}]+\}) from )?"([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (function|const) (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://.*|/\*\*.*\*/|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)


def chapter_script() -> str:
    """Return the script of a chapter's page, with that of every page."""
    site = joined([STATIC_JS / "site.js"], STATIC_JS)
    return CHAPTER_HEADER + site + joined([CHAPTER_SOURCES / "main.js"], CHAPTER_SOURCES)


def chapter_sheet() -> str:
    """Return the styles of a chapter's page beyond those of every page."""
    return SHEET_HEADER + "".join(_moved(path) for path in CHAPTER_SHEETS)


def _moved(path: Path) -> str:
    """Return a sheet with its addresses as they are seen from the chapter's."""

    def seen_from_there(match: re.Match[str]) -> str:
        target = os.path.relpath(path.parent / match[1], CHAPTER_SHEET_PATH.parent)
        return f"url({Path(target).as_posix()})"

    text = _URL.sub(seen_from_there, path.read_text(encoding="utf-8"))
    return text if text.endswith("\n") else f"{text}\n"


def joined(entries: Sequence[Path], folder: Path) -> str:
    """Return the entries and what they import, each once and after all that it needs.

    Each is known by its `name` in `folder`.
    """
    done: dict[Path, str] = {}

    def add(path: Path) -> None:
        if path in done:
            return
        source = path.read_text(encoding="utf-8")
        for imported in _imports(path, source):
            add(imported)
        done[path] = _as_function(path, source, folder)

    for entry in entries:
        add(entry)
    return "".join(done.values())


def name(path: Path, folder: Path) -> str:
    """Return what a module is called in the file that they are joined to."""
    return re.sub(r"\W", "_", path.relative_to(folder).with_suffix("").as_posix())


def _imports(path: Path, source: str) -> Iterator[Path]:
    for match in _IMPORT.finditer(source):
        yield (path.parent / match[2]).resolve()


def _as_function(path: Path, source: str, folder: Path) -> str:
    def imported(match: re.Match[str]) -> str:
        module = name((path.parent / match[2]).resolve(), folder)
        return f"const {match[1]} = {module};" if match[1] else ""

    exported = ", ".join(match[2] for match in _EXPORT.finditer(source))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(imported, source))
    body = _INDENT.sub("", _COMMENT.sub("", body))
    returned = f"return {{ {exported} }};\n" if exported else ""
    return f"const {name(path, folder)} = (() => {{\n{body}{returned}}})();\n"


def write_chapter_files() -> None:
    CHAPTER_PATH.write_text(chapter_script(), encoding="utf-8")
    CHAPTER_SHEET_PATH.write_text(chapter_sheet(), encoding="utf-8")


if __name__ == "__main__":
    write_chapter_files()
