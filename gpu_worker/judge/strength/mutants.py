"""Small wrong versions of a right program, made by changing one thing in its syntax tree.

Kinds: plus and minus exchanged, multiplication and division exchanged, one of two terms left out,
a sign flipped, a constant changed, a conversion (`astype`) left out. Strings, annotations, and code
under `if __name__ == "__main__"` stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed program, the line of the change in the original, and the change in words."""

    line: int
    change: str
    source: str


Change = tuple[str, Callable[[Any], ast.expr]]
"""A description of the change, and a function that makes it at the same place in another tree."""


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a program, in the order of its text.

    Raises:
        SyntaxError: it is no program.
    """
    source = source.removeprefix("\ufeff")
    count = len(_places(ast.parse(source)))
    found = []
    for number in range(count):
        # Each change is made in a separate copy of the tree.
        for which in range(len(_changes(_places(ast.parse(source))[number]))):
            tree = ast.parse(source)
            place = _places(tree)[number]
            text, change = _changes(place)[which]
            changed = _Replace(place, change(place)).visit(tree)
            found.append(
                Mutant(place.lineno, text, ast.unparse(ast.fix_missing_locations(changed)))
            )
    return sorted(found, key=lambda mutant: mutant.line)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._old:
            return self._new
        visited: ast.AST = self.generic_visit(node)
        return visited


def _places(tree: ast.Module) -> list[ast.expr]:
    return [node for node in _visible(tree) if isinstance(node, ast.expr) and _changes(node)]


def _visible(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without annotations, texts and the part that is run by hand only."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_by_hand(child):
                yield from _visible(child)


def _is_by_hand(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "print"
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def _changes(node: ast.expr) -> list[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
        return _operator_changes(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [(f"{ast.unparse(node)} without its sign", lambda n: n.operand)]
    if isinstance(node, ast.Constant) and _is_number(node.value):
        other = node.value + 1 if isinstance(node.value, int) else 2.0 * node.value
        return [(f"{node.value!r} becomes {other!r}", lambda n: ast.Constant(other))]
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "astype"
    ):
        return [(f"{_short(node)} without astype", lambda n: n.func.value)]
    return []


def _is_number(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float)


def _operator_changes(node: ast.BinOp) -> list[Change]:
    old, new = type(node.op), _SWAPPED[type(node.op)]
    text = _short(node)

    def swap(other: ast.BinOp) -> ast.expr:
        return ast.BinOp(other.left, new(), other.right)

    return [
        (f"{_SIGNS[old]} becomes {_SIGNS[new]} in {text}", swap),
        (f"left side only of {text}", lambda n: n.left),
        (f"right side only of {text}", lambda n: n.right),
    ]


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
