"""Digests of what the check of an exercise depends on: a result holds while they stay the same.

Three parts: the engine, the exercise's own code with the modules that it borrows, and the programs
stored beside it. Code counts by its syntax tree, so that a comment mended or a module moved asks
for no new check, and every Python version finds the same digest. Stored programs count to the byte.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import gpu_worker

_ENGINE: Final = Path(gpu_worker.__file__).resolve().parent
_EXERCISES: Final = _ENGINE / "exercises"
_SUBMISSIONS: Final = "submissions"
_NOT_PART: Final = frozenset({"__pycache__", "tests"})


def content_digest(folder: Path) -> str:
    """Return the digest of an exercise's folder and of what its modules borrow from others.

    The results that come with LearnML hold by this one alone: engine and results are released
    together.
    """
    return joined(code_digest(folder), programs_digest(folder))


def check_digest(folder: Path) -> str:
    """Return the digest of all that a check of this exercise on this installation depends on."""
    return joined(engine_digest(), code_digest(folder), programs_digest(folder))


def engine_digest() -> str:
    """Return the digest of the engine's files, to the byte, without the exercises' folders."""
    return _digest_of_files(_ENGINE, _files(_ENGINE, folders()))


def folders() -> list[Path]:
    """Return the folders of all exercises, without importing one."""
    return sorted(path.parent for path in _EXERCISES.glob("*/cases.py"))


def code_digest(folder: Path) -> str:
    """Return the digest of an exercise's modules, and of those of `exercises` that they import."""
    own = [path for path in _files(folder, {folder / _SUBMISSIONS}) if path.suffix == ".py"]
    other = [path for path in _files(folder, {folder / _SUBMISSIONS}) if path.suffix != ".py"]
    borrowed = _reached(own) - set(own)
    return joined(
        *(f"{path.relative_to(folder).as_posix()} {_digest_of_code(path)}" for path in own),
        # By what they are, not by where they lie.
        *sorted(_digest_of_code(path) for path in borrowed),
        _digest_of_files(folder, other),
    )


def programs_digest(folder: Path) -> str:
    """Return the digest of the stored programs, without those for a device, which no check runs."""
    stored = folder / _SUBMISSIONS
    return _digest_of_files(folder, _files(stored, {stored / "device"}))


def joined(*parts: str) -> str:
    """Return one digest of several texts, in their order."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _files(folder: Path, without: Iterable[Path] = ()) -> list[Path]:
    """Return the files below a folder in the order of their names."""
    found = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path in without or path.name in _NOT_PART or path.name.startswith("."):
            continue
        found += _files(path, without) if path.is_dir() else [path]
    return found


def _digest_of_files(folder: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _digest_of_code(path: Path) -> str:
    return _read(path, path.read_bytes())[0]


@lru_cache(maxsize=256)
def _read(path: Path, content: bytes) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a module's syntax tree, and the modules of `exercises` it imports."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        # Nobody can import it: whoever tries says why.
        return hashlib.sha256(content).hexdigest(), ()
    return hashlib.sha256(repr(_shape(tree)).encode()).hexdigest(), tuple(_imported(path, tree))


def _shape(node: Any) -> Any:
    """Return a syntax tree as nested tuples, without texts that stand alone, such as docstrings.

    Fields that are empty are left out: newer Pythons have more of them.
    """
    if isinstance(node, list):
        return tuple(_shape(each) for each in node if not _is_docstring(each))
    if isinstance(node, ast.ImportFrom | ast.alias):
        # A module's folder may change; what is taken from it may not.
        named = (node.module or "") if isinstance(node, ast.ImportFrom) else node.name
        taken = node.names if isinstance(node, ast.ImportFrom) else node.asname
        return type(node).__name__, named.rpartition(".")[2], _shape(taken)
    if not isinstance(node, ast.AST):
        return type(node).__name__, repr(node)
    fields = (
        (name, _shape(value))
        for name, value in ast.iter_fields(node)
        if value not in (None, []) and not isinstance(value, ast.expr_context)
    )
    return type(node).__name__, *fields


def _is_docstring(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _reached(paths: Iterable[Path]) -> set[Path]:
    """Return these modules, and those of `exercises` that they import, directly or not."""
    reached: set[Path] = set()
    open_ = list(paths)
    while open_:
        path = open_.pop()
        if path not in reached:
            reached.add(path)
            open_ += _read(path, path.read_bytes())[1]
    return reached


def _imported(path: Path, tree: ast.Module) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = (node.module or "").split(".") if node.module else []
            start = path.parents[node.level - 1] if node.level else _ENGINE.parent
            module = start.joinpath(*names)
            yield from _modules(module)
            for alias in node.names:
                yield from _modules(module / alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(_ENGINE.parent.joinpath(*alias.name.split(".")))


def _modules(place: Path) -> Iterator[Path]:
    """Return the module at a place below `exercises`, if one is there, but not the package itself.

    That one only hands on what its modules hold.
    """
    for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if place != _EXERCISES and _EXERCISES in path.parents and path.is_file():
            yield path
