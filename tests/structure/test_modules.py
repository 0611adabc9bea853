"""The structure of the code: which module imports which, without circles, and how large each is."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("learnml", "grader", "courses", "gpu_worker")
NO_MODULES = {"tests", "migrations", "submissions", "library"}
"""Folders in a package whose files no module of it imports."""
LARGE = 700
"""A module of more lines may have two subjects; see whether it has."""

Graph = dict[str, set[str]]


def modules(root: Path, packages: tuple[str, ...]) -> dict[str, Path]:
    """Return the files of all modules by their full names; a package's is its `__init__.py`."""
    found = {}
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if not NO_MODULES.intersection(parts):
                found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imported(name: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield each import of a module as the module named and the name taken from it, if any.

    Those within functions, below `if TYPE_CHECKING`, and by `import_module("...")` count as well.
    That a module imports the packages that it lies in does not count: it cannot do otherwise.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from ((base, alias.name) for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
                args=[ast.Constant(value=str(module)), *_],
            ):
                yield module, ""


def graph(root: Path, packages: tuple[str, ...]) -> Graph:
    """Return which modules each module imports."""
    files = modules(root, packages)
    found: Graph = {}
    for name, path in files.items():
        taken = {
            f"{base}.{part}" if f"{base}.{part}" in files else base
            for base, part in imported(name, path)
        }
        found[name] = (taken & files.keys()) - {name}
    return found


def circles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import one another, directly or by way of others."""
    reached: dict[str, set[str]] = {}
    for start in imports:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            fresh = imports[waiting.pop()] - seen
            seen |= fresh
            waiting += fresh
        reached[start] = seen
    groups = {
        tuple(sorted({name, *(other for other in reached[name] if name in reached[other])}))
        for name in imports
        if name in reached[name]
    }
    return [list(group) for group in sorted(groups)]


def test_no_modules_import_one_another() -> None:
    imports = graph(ROOT, PACKAGES)
    assert len(imports) > 400
    assert circles(imports) == []


@pytest.mark.parametrize(
    "back",
    [
        "from pack.room import first",
        "from .first import x",
        "from . import first",
        "import pack.room.first",
        "def later():\n    from .first import x",
        "if TYPE_CHECKING:\n    from .first import x",
        "importlib.import_module('pack.room.first')",
    ],
)
def test_a_circle_is_found_however_it_is_written(tmp_path: Path, back: str) -> None:
    room = tmp_path / "pack" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("from .first import x\n")
    (room / "first.py").write_text("from pack.room.second import y\nfrom ..third import z\n")
    (room / "second.py").write_text(f"{back}\n")
    (tmp_path / "pack" / "third.py").write_text("z = 1\n")
    assert circles(graph(tmp_path, ("pack",))) == [["pack.room.first", "pack.room.second"]]
    (room / "second.py").write_text("from pack.third import z\n")
    assert circles(graph(tmp_path, ("pack",))) == []


def test_large_modules_are_named() -> None:
    for name, path in modules(ROOT, PACKAGES).items():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LARGE:
            warnings.warn(f"{name} has {lines} lines, more than {LARGE}.", stacklevel=1)
