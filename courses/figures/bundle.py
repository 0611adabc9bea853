"""One file of all the figures' scripts, so that a page asks for one: `static/js/figures.js`.

    python -m courses.figures.bundle

writes it anew; a test says when that was forgotten. The sources are modules with plain imports and
exports; each becomes a function whose result is what it exports. What is in `kinds/` is known to
the page by its file's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

STATIC_JS = Path(__file__).resolve().parents[2] / "static" / "js"
SOURCES = STATIC_JS / "figures"
BUNDLE_PATH = STATIC_JS / "figures.js"
HEADER = (
    "// Made from static/js/figures/ by python -m courses.figures.bundle; change the sources.\n"
)

_IMPORT = re.compile(r'^import (\{[^}]+\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (function|const) (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?://.*|/\*\*.*\*/|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
_INDENT = re.compile(r"^\s+", re.MULTILINE)


def bundle() -> str:
    """Return the script of the page: all kinds, and what moves them."""
    kinds = sorted(SOURCES.glob("kinds/*.js"))
    modules = _in_order([*kinds, SOURCES / "main.js"])
    return f"{HEADER}{modules}{_name(SOURCES / 'main.js')}.start({_registry(kinds)});\n"


def models() -> str:
    """Return a script that defines `figureKinds` and needs no page: the models alone."""
    kinds = sorted(SOURCES.glob("kinds/*.js"))
    return f"{_in_order(kinds)}const figureKinds = {_registry(kinds)};\n"


def _registry(kinds: list[Path]) -> str:
    return "{" + ", ".join(f'"{path.stem}": {_name(path)}' for path in kinds) + "}"


def _in_order(entries: list[Path]) -> str:
    """The entries and what they import, each once and after all that it needs."""
    done: dict[Path, str] = {}

    def add(path: Path) -> None:
        if path in done:
            return
        source = path.read_text(encoding="utf-8")
        for imported in _imports(path, source):
            add(imported)
        done[path] = _as_function(path, source)

    for entry in entries:
        add(entry)
    return "".join(done.values())


def _imports(path: Path, source: str) -> Iterator[Path]:
    for match in _IMPORT.finditer(source):
        yield (path.parent / match[2]).resolve()


def _as_function(path: Path, source: str) -> str:
    exported = ", ".join(match[2] for match in _EXPORT.finditer(source))
    body = _IMPORT.sub(
        lambda match: f"const {match[1]} = {_name((path.parent / match[2]).resolve())};", source
    )
    body = _EXPORT.sub(r"\1 \2", body)
    body = _INDENT.sub("", _COMMENT.sub("", body))
    return f"const {_name(path)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _name(path: Path) -> str:
    return re.sub(r"\W", "_", path.relative_to(SOURCES).with_suffix("").as_posix())


def write_bundle() -> None:
    BUNDLE_PATH.write_text(bundle(), encoding="utf-8")


if __name__ == "__main__":
    write_bundle()
