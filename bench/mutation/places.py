"""The places where a program can be changed by rule, and the text it has then."""

from __future__ import annotations

import ast
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

GROUNDS: Final = {
    "engine": (
        *("gpu_worker/judge", "gpu_worker/sandbox", "gpu_worker/cuda_cpu", "gpu_worker/cupy_cpu"),
        *("gpu_worker/messages", "gpu_worker/worker"),
    ),
    "site": ("courses", "grader", "learnml"),
}
RULES: Final = ("comparison", "constant", "condition", "statement")
_SKIPPED: Final = {"tests", "migrations", "library", "management", "__pycache__", "settings"}
_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_LOGGING: Final = {"debug", "info", "warning", "error", "exception", "log"}


@dataclass(frozen=True)
class Mutant:
    """`was` at byte `start` of a file is replaced by `becomes`."""

    ground: str
    rule: str
    path: str
    line: int
    start: int
    was: str
    becomes: str

    @property
    def id(self) -> str:
        return f"{self.path}:{self.start}:{self.rule}"

    def applied(self, source: str) -> str:
        """Return the changed source.

        Raises:
            ValueError: the source is not the one that the place was found in.
        """
        data, was = source.encode(), self.was.encode()
        if data[self.start : self.start + len(was)] != was:
            raise ValueError(f"{self.id} is not in this source")
        after = data[self.start + len(was) :]
        return (data[: self.start] + self.becomes.encode() + after).decode()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


Places = dict[str, dict[str, list[Mutant]]]
"""By rule, then by file."""


def places(root: Path, ground: str) -> Places:
    """Return every place of a ground's files that a rule can change."""
    found: Places = {rule: defaultdict(list) for rule in RULES}
    for path in _files(root, GROUNDS[ground]):
        source = (root / path).read_text(encoding="utf-8")
        for mutant in found_in(source, ground, path):
            found[mutant.rule][path].append(mutant)
    return found


def draw(root: Path, found: Places, count: int, seed: int) -> list[Mutant]:
    """Return mutants that are programs: as many of each rule, from as many files as there are."""
    chance = random.Random(seed)
    taken: list[Mutant] = []
    while len(taken) < count:
        by_file = found[RULES[len(taken) % len(RULES)]]
        files = {mutant.path for mutant in taken}
        path = chance.choice(sorted(set(by_file) - files) or sorted(by_file))
        mutant = chance.choice(by_file[path])
        source = (root / path).read_text(encoding="utf-8")
        if mutant not in taken and _is_a_program(mutant.applied(source)):
            taken.append(mutant)
    return taken


def _files(root: Path, folders: Sequence[str]) -> list[str]:
    return sorted(
        path.relative_to(root).as_posix()
        for folder in folders
        for path in (root / folder).rglob("*.py")
        if not _SKIPPED & set(path.relative_to(root).parts)
    )


def found_in(source: str, ground: str, path: str) -> list[Mutant]:
    """Return everything that a file's source can be changed in."""
    lines = source.encode().splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    data = source.encode()
    found = []
    for node, rule in _places(ast.parse(source)):
        start = begins[node.lineno - 1] + node.col_offset
        end = begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        was = data[start:end].decode()
        becomes = _changed(node, rule, was)
        found.append(Mutant(ground, rule, path, node.lineno, start, was, becomes))
    return found


def _is_a_program(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _places(tree: ast.Module) -> Iterator[tuple[Any, str]]:
    """Yield what can be changed, within functions only: what is outside runs at import."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for statement in function.body:
            for node in _walk(statement):
                if rule := _rule(node):
                    yield (node.test if rule == "condition" else node), rule  # type: ignore[attr-defined]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, but for nested functions, annotations and f-strings."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name == "annotation" or (name == "msg" and isinstance(node, ast.Assert)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child)


def _rule(node: ast.AST) -> str:
    match node:
        case ast.Compare(ops=[_]):
            return "comparison"
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return "constant"
        case ast.If() | ast.While() | ast.IfExp():
            return "condition"
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name in _LOGGING:
            return ""
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
            return "statement"
    return ""


def _changed(node: Any, rule: str, was: str) -> str:
    if rule == "comparison":
        opposite = _OPPOSITE[type(node.ops[0])]()
        return f"({ast.unparse(ast.Compare(node.left, [opposite], node.comparators))})"
    if rule == "constant":
        return str(node.value + 1)
    if rule == "statement":
        return "pass"
    return f"(not ({was}))"
